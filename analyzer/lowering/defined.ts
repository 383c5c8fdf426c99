/**
 * Reads:   calls that define accessors: `Object.defineProperty(o, 'x', { get() {…} })`, `o.__defineGetter__('x', fn)`.
 * Gives:   stores of these, as a class or an object would have them: who reads `x` runs the getter, and it has the reader's object for its `this`.
 */
import type * as es from 'estree';
import { NOTHING, type ValueId } from '../facts.js';
import { type LoweringContext, offset } from './context.js';

const accessors = ['get', 'set'] as const;

export function defineAccessors(
  context: LoweringContext,
  callee: es.MemberExpression,
  nodes: readonly es.Node[],
  receiver: ValueId,
  call: number,
): void {
  const { facts } = context;
  if (callee.computed || callee.property.type !== 'Identifier' || facts.callSpread.get(call) >= 0) return;
  const given = (index: number): ValueId => (index < facts.callCount.get(call) ? facts.argument(call, index) : NOTHING);
  const at = offset(callee);
  const old = /^__define([GS])etter__$/.exec(callee.property.name);
  if (old !== null) {
    const key = facts.strings.get(given(0));
    const kind = old[1] === 'G' ? 'get' : 'set';
    if (key !== undefined && receiver !== NOTHING) context.store(receiver, `${kind} ${key}`, given(1), true, at);
    return;
  }
  const target = given(0);
  if (target === NOTHING) return;
  const define = (key: string, descriptor: ValueId, node: es.Node | undefined): void => {
    for (const kind of accessors)
      if (mayHave(node, kind)) context.store(target, `${kind} ${key}`, context.load(descriptor, kind, at), true, at);
  };
  if (callee.property.name === 'defineProperty') {
    const key = facts.strings.get(given(1));
    if (key !== undefined && given(2) !== NOTHING) define(key, given(2), nodes[2]);
  } else if (callee.property.name === 'defineProperties' && nodes[1]?.type === 'ObjectExpression') {
    for (const property of nodes[1].properties) {
      const key = nameOf(property);
      if (key !== null && property.type === 'Property') define(key, context.load(given(1), key, at), property.value);
    }
  }
}

function mayHave(descriptor: es.Node | undefined, kind: string): boolean {
  if (descriptor?.type !== 'ObjectExpression') return true;
  return descriptor.properties.some((property) => [null, kind].includes(nameOf(property)));
}

function nameOf(property: es.Property | es.SpreadElement): string | null {
  if (property.type !== 'Property' || property.computed) return null;
  if (property.key.type === 'Identifier') return property.key.name;
  return property.key.type === 'Literal' ? String(property.key.value) : null;
}
