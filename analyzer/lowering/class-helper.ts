/**
 * Reads:   calls of the helper that Babel and swc write for classes: `_createClass(Box, [{ key: 'size', get: function get() {…} }], statics)`.
 * Gives:   what the source said: methods and accessors of the class's prototype, and of the class. Taken as any code, the helper would
 *          define something under a name that is not known, with whatever receiver.
 */
import type * as es from 'estree';
import { FunctionFlag, type ValueId } from '../facts.js';
import { type LoweringContext, offset } from './context.js';
import { lowerExpression } from './expressions.js';
import { lowerFunction } from './functions.js';
import { keyName } from './patterns.js';

interface MemberNodes {
  readonly key: es.Expression;
  readonly kind: 'get' | 'set' | 'value';
  readonly value: es.Expression;
}

/** Null where the call is none of these. */
export function lowerCreatedClass(context: LoweringContext, node: es.SimpleCallExpression): ValueId | null {
  const [made, ...tables] = node.arguments;
  if (made === undefined || made.type === 'SpreadElement' || !isHelper(context, node.callee)) return null;
  const [own, statics = [], ...others] = tables.map(listMembers);
  if (own === undefined || own === null || statics === null || others.length > 0) return null;
  const value = lowerExpression(context, made);
  if (own.length > 0) defineAll(context, context.load(value, 'prototype', offset(node)), own);
  defineAll(context, value, statics);
  return value;
}

function isHelper(context: LoweringContext, callee: es.Node): boolean {
  if (callee.type === 'SequenceExpression') return isHelper(context, callee.expressions.at(-1) as es.Node);
  if (callee.type === 'MemberExpression') {
    const { property, computed } = callee;
    const isDefault = computed
      ? property.type === 'Literal' && property.value === 'default'
      : property.type === 'Identifier' && property.name === 'default';
    return isDefault && isHelper(context, callee.object);
  }
  if (callee.type !== 'Identifier') return false;
  return /^_create_?[Cc]lass\d*$/.test(callee.name) && context.variableAt(callee) !== 0;
}

/** `[{ key, value }, { key, get, set }, …]`, or nothing: `null`, `void 0`. */
function listMembers(table: es.Node): readonly MemberNodes[] | null {
  if (table.type === 'Literal' || table.type === 'UnaryExpression') return [];
  if (table.type !== 'ArrayExpression') return null;
  const found: MemberNodes[] = [];
  for (const element of table.elements) {
    const members = element?.type === 'ObjectExpression' ? membersOf(element) : null;
    if (members === null) return null;
    found.push(...members);
  }
  return found;
}

function membersOf({ properties }: es.ObjectExpression): readonly MemberNodes[] | null {
  const [first, ...others] = properties;
  if (first?.type !== 'Property' || first.computed) return null;
  if (first.key.type !== 'Identifier' || first.key.name !== 'key') return null;
  const found: MemberNodes[] = [];
  for (const property of others) {
    if (property.type !== 'Property' || property.computed || property.key.type !== 'Identifier') return null;
    const { name: kind } = property.key;
    if (kind !== 'get' && kind !== 'set' && kind !== 'value') return null;
    found.push({ key: first.value as es.Expression, kind, value: property.value as es.Expression });
  }
  return found;
}

function defineAll(context: LoweringContext, target: ValueId, members: readonly MemberNodes[]): void {
  const names = new Map<es.Expression, string | null>();
  for (const { key, kind, value } of members) {
    if (!names.has(key)) names.set(key, keyName(context, { key, computed: true }));
    const name = names.get(key) ?? null;
    const given =
      value.type === 'FunctionExpression'
        ? lowerFunction(context, value, name ?? '', FunctionFlag.method).self
        : lowerExpression(context, value, name ?? '');
    const accessor = kind === 'value' ? '' : `${kind} `;
    context.store(target, name === null ? null : accessor + name, given, true, offset(value));
  }
}
