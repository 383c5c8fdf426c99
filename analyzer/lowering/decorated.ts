/**
 * Reads:   calls of the helper that TypeScript and swc write for decorators.
 * Gives:   what they come to: each decorator is called with the class, or with the prototype, the name and what is there under
 *          it; what it gives takes the place of that. Taken as any code, the helper would be one function through which all
 *          classes, prototypes and descriptors of a module go.
 *
 *     Users = __decorate([Controller("/users")], Users);
 *     __decorate([Get("/:id"), __metadata("design:type", Function)], Users.prototype, "show", null);
 */
import type * as es from 'estree';
import { Op, type ValueId } from '../facts.js';
import { endOf, type LoweringContext, offset } from './context.js';
import { lowerExpression } from './expressions.js';

/** Null where the call is none of these. */
export function lowerDecorated(context: LoweringContext, node: es.SimpleCallExpression): ValueId | null {
  const [list, target, name] = node.arguments;
  if (!isDecorate(context, node.callee) || list?.type !== 'ArrayExpression' || target === undefined) return null;
  const decorators = list.elements.filter((each) => each !== null);
  if ([...decorators, target].some(({ type }) => type === 'SpreadElement')) return null;
  if (name !== undefined && (name.type !== 'Literal' || typeof name.value !== 'string')) return null;
  const values = decorators.map((each) => ({ each, value: lowerExpression(context, each) })).reverse();
  const decorated = lowerExpression(context, target);
  const key = name === undefined ? null : String(name.value);
  const result = context.facts.newValue();
  context.copy(key === null ? decorated : descriptorOf(context, decorated, key, node), result, offset(node));
  for (const { each, value } of values) {
    // It notes what the compiler knew of types, for who asks for that.
    if (isMetadata(each)) continue;
    const given = key === null ? [result] : [decorated, nameOf(context, key), result];
    const place = { start: offset(each), end: endOf(each) };
    const call = context.call(
      given.map((argument) => ({ value: argument, ...place })),
      -1,
      place,
      endOf(each),
    );
    const made = context.facts.newValue();
    context.op(Op.call, value, made, 0, call, offset(each));
    context.copy(made, result, offset(each));
  }
  if (key !== null) define(context, decorated, key, result, node);
  return result;
}

function isDecorate(context: LoweringContext, callee: es.Node): boolean {
  if (callee.type === 'SequenceExpression') return isDecorate(context, callee.expressions.at(-1) as es.Node);
  if (callee.type === 'Identifier')
    return (
      /^(__decorate|_ts_decorate)$/.test(callee.name) &&
      context.variableAt(callee) !== 0 &&
      context.text.includes('Reflect.decorate')
    );
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return false;
  const isHelper = callee.property.type === 'Identifier' && callee.property.name === '__decorate';
  return isHelper && /^_?tslib(_\d+)?$/.test(callee.object.name);
}

function isMetadata(node: es.Node): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return false;
  return /^(__metadata|_ts_metadata)$/.test(node.callee.name);
}

function nameOf(context: LoweringContext, key: string): ValueId {
  const value = context.facts.newValue();
  context.facts.strings.set(value, context.facts.word(key));
  return value;
}

/** What the prototype has there: a method, or an accessor. */
function descriptorOf(context: LoweringContext, owner: ValueId, key: string, node: es.Node): ValueId {
  const descriptor = context.object('Object', offset(node));
  for (const [field, own] of partsOf(context, key))
    context.store(descriptor, field, context.load(owner, own, offset(node)), true, offset(node));
  return descriptor;
}

function define(context: LoweringContext, owner: ValueId, key: string, descriptor: ValueId, node: es.Node): void {
  for (const [field, own] of partsOf(context, key))
    context.store(owner, own, context.load(descriptor, field, offset(node)), false, offset(node));
}

function partsOf(context: LoweringContext, key: string): readonly (readonly [field: string, own: string])[] {
  const isAccessor = new RegExp(`\\b[gs]et\\s+${key.replace(/\W/g, '\\$&')}\\b`).test(context.text);
  const method = ['value', key] as const;
  return isAccessor ? [method, ['get', `get ${key}`], ['set', `set ${key}`]] : [method];
}
