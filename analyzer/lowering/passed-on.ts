/**
 * Reads: a function that uses `arguments`.
 * Gives: whether all that it does with them is to pass them on, each in its place: `fn.apply(this, arguments)`. Who has them
 *        otherwise may change or move them, and parameters with them (`shift.call(arguments)`).
 */
import type * as es from 'estree';
import { Piece } from '../../syntax/pieces.js';

export function passesArgumentsOn(node: es.Function): boolean {
  const applied = new Set<object>();
  const waiting: object[] = [...node.params, node.body];
  const used: object[] = [];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    // Nothing that uses `arguments` of what is around it is one.
    if (value instanceof Piece) continue;
    if (isNode(value)) {
      // They have `arguments` of their own.
      if (value.type === 'FunctionDeclaration' || value.type === 'FunctionExpression') continue;
      const list = value.type === 'CallExpression' ? listApplied(value) : null;
      if (list !== null) applied.add(list);
      if (value.type === 'Identifier' && value.name === 'arguments') used.push(value);
    }
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
  return used.every((each) => applied.has(each));
}

function listApplied({ callee, arguments: [self, list, ...others] }: es.SimpleCallExpression): es.Node | null {
  if (self?.type === 'SpreadElement' || list === undefined || others.length > 0) return null;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return null;
  return callee.property.name === 'apply' ? list : null;
}

function isNode(value: object): value is es.Node {
  return 'type' in value && typeof value.type === 'string';
}
