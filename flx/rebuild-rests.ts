/**
 * Reads: the text of a module in which the rest of each async function, behind an `await`, stands as a function of its own
 *        where it was cut off; and the names of these.
 * Gives: the text with the functions whole again.
 *
 *     return (async function show_read(data) {
 *       res.send(data);                             ⇒    let data = await read(file);
 *     })(await read(file));                              res.send(data);
 */

import type { CallExpression, FunctionExpression, Node, ReturnStatement } from 'estree';
import { analyze, parse, parseWithRanges } from '../syntax/parser.js';

export function joinRests(text: string, rests: ReadonlySet<string>): string {
  if (rests.size === 0) return text;
  let joined = text;
  // What is joined may hold the next one.
  for (;;) {
    const found = findRest(joined, rests);
    if (found === null) return joined;
    joined = join(joined, found);
  }
}

/** Names that the text uses and does not declare. */
export function freeNames(text: string): ReadonlySet<string> {
  for (const sourceType of ['commonjs', 'module'] as const) {
    try {
      const tree = parseWithRanges(text, sourceType);
      const { globalScope } = analyze(tree, { ecmaVersion: 2025, sourceType });
      return new Set(globalScope?.through.map(({ identifier }) => identifier.name));
    } catch {
      // The other, or what is wrong with it Node will say.
    }
  }
  return new Set();
}

interface Rest {
  readonly call: CallExpression;
  readonly own: FunctionExpression;
  readonly start: number;
  /** Where the body of the function ends that it is the rest of. */
  readonly end: number;
  /** `try` blocks that are open at the cut; the rest opens them again. */
  readonly tries: number;
}

function findRest(text: string, rests: ReadonlySet<string>): Rest | null {
  const program = parseEither(text);
  if (program === null) return null;
  let found: Rest | null = null;
  walk(program, [], (node, parents) => {
    if (found !== null || node.type !== 'ReturnStatement') return;
    const own = restOf(node, rests);
    if (own === null) return;
    const at = parents.findLastIndex(({ type }) => /Function/.test(type));
    const fn = parents[at];
    const inner = parents.slice(at + 1);
    const isOpen = (each: Node, index: number): boolean =>
      each.type === 'TryStatement' && (inner[index + 1] ?? node) === each.block;
    if (fn === undefined || !('body' in fn) || Array.isArray(fn.body) || fn.body == null) return;
    const call = node.argument as CallExpression;
    found = { call, own, start: startOf(node), end: endOf(fn.body as Node) - 1, tries: inner.filter(isOpen).length };
  });
  return found;
}

function restOf({ argument }: ReturnStatement, rests: ReadonlySet<string>): FunctionExpression | null {
  if (argument?.type !== 'CallExpression' || argument.callee.type !== 'FunctionExpression') return null;
  const own = argument.callee;
  return own.async === true && rests.has(own.id?.name ?? '') ? own : null;
}

function join(text: string, { call, own, start, end, tries }: Rest): string {
  const of = (node: Node): string => text.slice(startOf(node), endOf(node));
  const [param] = own.params;
  const [given] = call.arguments;
  let body = text.slice(startOf(own.body) + 1, endOf(own.body) - 1);
  for (let open = tries; open > 0; open--) body = body.replace(/^\s*try \{/, '');
  let lead = '';
  if (given !== undefined) {
    const assigned = /^\s*([^\n]+) = value;/.exec(body);
    if (param?.type === 'Identifier' && param.name === 'value' && assigned !== null) {
      lead = `${assigned[1]} = ${of(given)};`;
      body = body.slice(assigned[0].length);
    } else {
      lead = param === undefined ? `${of(given)};` : `let ${of(param)} = ${of(given)};`;
    }
  }
  const lines = body.trimEnd().split('\n');
  const step = '  '.repeat(1 + tries);
  const indentation = /^[\t ]*/.exec(text.slice(text.lastIndexOf('\n', start - 1) + 1))?.[0] ?? '';
  // Template literals over several lines stay as they are.
  const moved = body.includes('`')
    ? lines
    : lines.map((line) => (line.startsWith(step) ? line.slice(step.length) : line));
  const before = text.slice(0, start);
  const first = lead === '' ? moved.join('\n').replace(/^\s+/, moved.length > 1 ? '' : '') : lead + moved.join('\n');
  return `${before}${first}\n${indentation.slice(tries * 2 + 2)}${text.slice(end)}`;
}

function parseEither(text: string): Node | null {
  for (const sourceType of ['commonjs', 'module'] as const) {
    try {
      return parse(text, sourceType);
    } catch {
      // The other, or what is wrong with it Node will say.
    }
  }
  return null;
}

function walk(node: Node, parents: readonly Node[], visit: (node: Node, parents: readonly Node[]) => void): void {
  visit(node, parents);
  const below = [...parents, node];
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, below, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function startOf(node: Node): number {
  return Number(Reflect.get(node, 'start'));
}

function endOf(node: Node): number {
  return Number(Reflect.get(node, 'end'));
}
