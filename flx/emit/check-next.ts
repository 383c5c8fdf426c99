/**
 * Reads: a module's text, and the handlers and callbacks in it that may leave home.
 * Gives: the handlers that go on after a call of `next()`.
 *
 * At home `next()` comes back when all that follows in the chain has run, or has begun to wait. A handler on another loop
 * can only send word: what it does after that call would be done before the chain goes on. So `next` may be called last
 * only, or handed to a promise, in functions that nobody runs in between.
 */
import { parse } from 'espree';
import type * as es from 'estree';
import type { Fluxion, FluxionId, ModuleSource } from '../program.js';

export function findGoingOn(
  source: ModuleSource,
  handlers: readonly Fluxion[],
  all: readonly Fluxion[],
): ReadonlySet<FluxionId> {
  const found = new Set<FluxionId>();
  if (handlers.length === 0) return found;
  const walked = walk(parseText(source));
  const later = new Set(all.map(({ at }) => functionAt(walked, offsetOf(source.text, at))));
  for (const { id, at } of handlers) {
    const fn = functionAt(walked, offsetOf(source.text, at));
    if (fn === null || !isSafe(fn, walked, later)) found.add(id);
  }
  return found;
}

type FunctionNode = es.FunctionDeclaration | es.FunctionExpression | es.ArrowFunctionExpression;

interface Walked {
  readonly functions: readonly FunctionNode[];
  readonly identifiers: readonly es.Identifier[];
  readonly parents: ReadonlyMap<es.Node, es.Node>;
}

function parseText({ text, kind }: ModuleSource): es.Program {
  // The parser's own node types name the same trees as estree's, a little more loosely.
  return parse(text, { ecmaVersion: 'latest', sourceType: kind, range: true }) as unknown as es.Program;
}

function walk(tree: es.Program): Walked {
  const functions: FunctionNode[] = [];
  const identifiers: es.Identifier[] = [];
  const parents = new Map<es.Node, es.Node>();
  const waiting: es.Node[] = [tree];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isFunction(node)) functions.push(node);
    if (node.type === 'Identifier') identifiers.push(node);
    for (const value of Object.values(node)) {
      for (const below of Array.isArray(value) ? value : [value]) {
        if (!isNode(below)) continue;
        parents.set(below, node);
        waiting.push(below);
      }
    }
  }
  return { functions, identifiers, parents };
}

function isNode(value: unknown): value is es.Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function isFunction(node: es.Node | undefined): node is FunctionNode {
  return (
    node?.type === 'FunctionDeclaration' ||
    node?.type === 'FunctionExpression' ||
    node?.type === 'ArrowFunctionExpression'
  );
}

function offsetOf(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  let start = 0;
  for (let left = line - 1; left > 0; left--) {
    const end = /\r\n|[\r\n\u2028\u2029]/g;
    end.lastIndex = start;
    const found = end.exec(text);
    if (found === null) return text.length;
    start = found.index + found[0].length;
  }
  return start + column - 1;
}

/** A method begins at its name, its function behind it. */
function functionAt({ functions, parents }: Walked, offset: number): FunctionNode | null {
  const begins = (fn: FunctionNode): boolean => {
    if (startOf(fn) === offset) return true;
    const parent = parents.get(fn);
    return (parent?.type === 'MethodDefinition' || parent?.type === 'Property') && startOf(parent) === offset;
  };
  return functions.find(begins) ?? null;
}

function startOf(node: es.Node): number {
  return node.range?.[0] ?? -1;
}

function endOf(node: es.Node): number {
  return node.range?.[1] ?? -1;
}

function isSafe(fn: FunctionNode, walked: Walked, later: ReadonlySet<FunctionNode | null>): boolean {
  // Through `arguments` or a rest parameter `next` has no name.
  if (fn.params.some(({ type }) => type !== 'Identifier' && type !== 'ObjectPattern')) return false;
  const last = fn.params.length >= 3 ? fn.params.at(-1) : undefined;
  const within = walked.identifiers.filter((node) => startOf(node) > startOf(fn) && endOf(node) <= endOf(fn));
  if (fn.type !== 'ArrowFunctionExpression' && within.some(({ name }) => name === 'arguments')) return false;
  if (last === undefined) return true;
  if (last.type !== 'Identifier') return false;
  return within
    .filter((node) => node.name === last.name && node !== last && isVariable(node, walked))
    .every((node) => isLastCall(node, fn, walked, later));
}

function isVariable(node: es.Identifier, { parents }: Walked): boolean {
  const parent = parents.get(node);
  if (parent?.type === 'MemberExpression') return parent.object === node || parent.computed;
  return !(parent?.type === 'Property' && parent.key === node && !parent.computed && !parent.shorthand);
}

function isLastCall(
  node: es.Identifier,
  handler: FunctionNode,
  walked: Walked,
  later: ReadonlySet<FunctionNode | null>,
): boolean {
  const parent = walked.parents.get(node);
  if (parent?.type !== 'CallExpression') return false;
  if (parent.callee !== node) return isPromiseCallback(parent);
  return endsFunction(parent, walked, (fn) => fn === handler || later.has(fn));
}

/** `.then(next)`, `.catch(next)`: it is called with an empty stack below it. */
function isPromiseCallback({ callee }: es.SimpleCallExpression): boolean {
  return (
    callee.type === 'MemberExpression' &&
    callee.property.type === 'Identifier' &&
    /^(then|catch|finally)$/.test(callee.property.name)
  );
}

/** Nothing of the function around it is left to do when the expression has been evaluated. */
function endsFunction(from: es.Node, { parents }: Walked, mayEnd: (fn: FunctionNode) => boolean): boolean {
  for (let node = from, parent = parents.get(node); parent !== undefined; node = parent, parent = parents.get(node)) {
    if (isFunction(parent)) return mayEnd(parent);
    switch (parent.type) {
      case 'ReturnStatement':
      case 'ExpressionStatement':
      case 'IfStatement':
      case 'LabeledStatement':
      case 'SwitchStatement':
      case 'CatchClause':
        break;
      case 'UnaryExpression':
        if (parent.operator !== 'void') return false;
        break;
      case 'LogicalExpression':
        if (parent.right !== node) return false;
        break;
      case 'ConditionalExpression':
        if (parent.test === node) return false;
        break;
      case 'SequenceExpression':
        if (parent.expressions.at(-1) !== node) return false;
        break;
      case 'TryStatement':
        if (parent.finalizer) return false;
        break;
      case 'BlockStatement':
        if (!isLastOf(parent.body, node)) return false;
        break;
      case 'SwitchCase':
        if (!isLastOf(parent.consequent, node)) return false;
        break;
      default:
        return false;
    }
    if (parent.type === 'ReturnStatement') return endsByReturn(parent, parents, mayEnd);
  }
  return false;
}

function isLastOf(body: readonly es.Node[], node: es.Node): boolean {
  const next = body[body.indexOf(node) + 1];
  if (next === undefined || node.type === 'ReturnStatement') return true;
  return next.type === 'BreakStatement' || (next.type === 'ReturnStatement' && !next.argument);
}

/** Only a `finally` comes behind a `return`. */
function endsByReturn(
  from: es.Node,
  parents: ReadonlyMap<es.Node, es.Node>,
  mayEnd: (fn: FunctionNode) => boolean,
): boolean {
  for (let node = parents.get(from); node !== undefined; node = parents.get(node)) {
    if (isFunction(node)) return mayEnd(node);
    if (node.type === 'TryStatement' && node.finalizer) return false;
  }
  return false;
}
