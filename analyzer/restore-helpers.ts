/**
 * What TypeScript writes for an older language in the place of spreading and destructuring.
 *
 *     __spreadArray([1], list, true)      [...[1], ...list]
 *     __read(pair, 2)                     [...pair]
 *
 * Reads:   a tree, and its text.
 * Gives:   the same tree with what the source said. Taken as any code, each of these would be one function through which all
 *          that is spread goes. `__assign` stays as it is: it replaces itself when it is first called, which is a change.
 */
import type * as es from 'estree';
import type { Offsets } from '../syntax/parser.js';

/** By name, what its text has in it, as TypeScript writes it. */
const helpers = new Map<string, RegExp>([
  ['__spreadArray', /\|\| function\s*\(to, from, pack\)/],
  ['__read', /\b__read = \(this && this\.__read\) \|\| function\s*\(o, n\)/],
]);

export function usesHelpers(text: string): boolean {
  return listUsed(text).length > 0;
}

function listUsed(text: string): readonly string[] {
  return [...helpers].filter(([name, made]) => text.includes(name) && made.test(text)).map(([name]) => name);
}

export function restoreHelpers(tree: es.Program, text: string): void {
  const used = listUsed(text);
  if (used.length === 0) return;
  for (const node of nodesIn(tree)) {
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') continue;
    if (used.includes(node.callee.name)) restoreCall(node, node.callee.name);
  }
  for (const name of used) emptyUnused(tree, name);
}

function restoreCall(call: es.SimpleCallExpression, name: string): void {
  const given = call.arguments.filter((each): each is es.Expression => each.type !== 'SpreadElement');
  if (given.length < call.arguments.length) return;
  const lists = given.slice(0, name === '__read' ? 1 : 2);
  const elements = lists.map((argument) => at(argument, { type: 'SpreadElement', argument }));
  become(call, at(call, { type: 'ArrayExpression', elements }));
}

export function identifier(node: es.Node, name: string): es.Identifier {
  return at(node, { type: 'Identifier', name });
}

/** A node that stands where another one does. */
export function at<Made extends es.Node>(node: es.Node, made: Made): Made {
  const { start, end } = node as unknown as Offsets;
  return { ...made, start, end };
}

/** What holds the node holds the other one then. */
export function become(node: es.Node, other: es.Node): void {
  for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, other);
}

/** What nobody calls any more: as it stands there it would be taken for code that anybody may run. */
export function emptyUnused(tree: es.Program, name: string): void {
  const made: es.Function[] = [];
  const waiting: object[] = [tree];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const fn = isNode(value) ? madeAs(value, name) : null;
    if (fn !== null) {
      made.push(fn);
      continue;
    }
    if (isNode(value) && value.type === 'Identifier' && value.name === name) return;
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
  for (const { body } of made) if (body.type === 'BlockStatement') body.body = [];
}

/** The function that a declaration of the helper declares: `var __read = (this && this.__read) || function (o, n) { … }`. */
function madeAs(node: es.Node, name: string): es.Function | null {
  if (node.type === 'FunctionDeclaration') return node.id?.name === name ? node : null;
  if (node.type !== 'VariableDeclarator' || node.id.type !== 'Identifier' || node.id.name !== name) return null;
  const init = node.init?.type === 'LogicalExpression' ? node.init.right : node.init;
  return init?.type === 'FunctionExpression' || init?.type === 'ArrowFunctionExpression' ? init : null;
}

export function* nodesIn(node: es.Node): Generator<es.Node> {
  const waiting: object[] = [node];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (isNode(value)) yield value;
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
}

export function isNode(value: object): value is es.Node {
  return 'type' in value && typeof value.type === 'string';
}
