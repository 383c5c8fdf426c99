/**
 * Code as V8 runs it well before it has optimised it, which in most compiles is nearly all the time:
 *
 *     for (const x of list) …       the same with an index where the list is an array. V8 makes an iterator for each loop, and an object for each
 *                                   step: a third of all that a compile allocated
 *     const [a, b] = pair           pair[0], pair[1]: the same
 *     this.#facts                   this.$facts: what is private is looked for in several steps. TypeScript has seen to it that nobody else
 *                                   uses it
 *
 * Reads:  a module as the TypeScript compiler wrote it.
 * Gives:  a module that does the same, line by line. Generators that are left early are not told so, hence none may wait for that (`finally`).
 */
import type * as es from 'estree';
import { invariant } from './diagnostics/invariant.js';
import { type Offsets, parse } from './syntax/parser.js';

type Placed<Node> = Node & Offsets;
type AnyNode = Placed<es.Node | es.PrivateIdentifier>;

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `helpers`: the module with what the code calls (`syntax/iterate.ts`), as this one imports it. */
export function makePlain(text: string, helpers: string): string {
  if (text.includes('\nimport { iterate as $iterate')) return text;
  const nodes = [...nodesWithin(parse(text, 'module'))];
  checkNames(nodes);
  const edits: Edit[] = [];
  let count = 0;
  for (const node of nodes) {
    if (node.type === 'PrivateIdentifier') edits.push({ start: node.start, end: node.start + 1, text: '$' });
    if (node.type === 'ForOfStatement' && isPlainLoop(node)) edits.push(...plainLoop(text, node, ++count));
    if (node.type === 'VariableDeclaration')
      for (const each of node.declarations) edits.push(...plainDeclarator(text, each, ++count));
  }
  if (edits.length === 0) return text;
  // Behind all else, so that no line moves.
  return `${edited(text, edits)}\nimport { iterate as $iterate, take as $take } from '${helpers}';\n`;
}

function* nodesWithin(value: unknown): Generator<AnyNode> {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && 'start' in value) yield value as AnyNode;
  for (const inner of Object.values(value)) yield* nodesWithin(inner);
}

function checkNames(nodes: readonly AnyNode[]): void {
  const classes = nodes.flatMap((node) =>
    node.type === 'ClassDeclaration' || node.type === 'ClassExpression' ? node : [],
  );
  for (const heir of classes.filter(({ superClass }) => superClass != null)) {
    const others = new Set(classes.filter((each) => each !== heir).flatMap(privateNames));
    const shared = privateNames(heir).find((name) => others.has(name));
    invariant(shared === undefined, `#${shared} may be another one for the class that is extended`);
  }
  for (const node of nodes) {
    invariant(node.type !== 'Identifier' || !node.name.startsWith('$'), 'names that begin with $ are made here');
    if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression')
      invariant(!node.generator || !hasFinally(node), 'a generator that is left early is not told so');
  }
}

function privateNames({ body }: es.Class): string[] {
  return body.body.flatMap((member) =>
    member.type !== 'StaticBlock' && member.key.type === 'PrivateIdentifier' ? member.key.name : [],
  );
}

function hasFinally(node: es.Node): boolean {
  return [...nodesWithin(node)].some((inner) => inner.type === 'TryStatement' && inner.finalizer != null);
}

function edited(text: string, edits: readonly Edit[]): string {
  let made = '';
  let done = 0;
  for (const { start, end, text: other } of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    invariant(start >= done, 'two edits of one place');
    made += text.slice(done, start) + other;
    done = end;
  }
  return made + text.slice(done);
}

/** In the place of what stands between them. Lines stay where they are. */
function between(text: string, start: number, end: number, other: string): Edit {
  const lines = text.slice(start, end).replace(/[^\n]/g, '');
  return { start, end, text: `${other}${lines}` };
}

// ---------------------------------------------------------------------------------------------------- loops

type Loop = Placed<es.ForOfStatement> & { readonly left: es.VariableDeclaration };

function isPlainLoop(node: Placed<es.ForOfStatement>): node is Loop {
  return !node.await && node.left.type === 'VariableDeclaration';
}

function plainLoop(text: string, { start, left, right, body }: Loop, number: number): Edit[] {
  const [all, at, steps, step] = ['all', 'at', 'steps', 'step'].map((name) => `$${name}${number}`);
  const [list, code] = [right as Placed<es.Expression>, body as Placed<es.Statement>];
  const head = `, ${at} = 0, ${steps} = $iterate(${all}), ${step}`;
  const test = `${steps} === null ? ${at} < ${all}.length : !(${step} = ${steps}.next()).done`;
  const value = `${steps} === null ? ${all}[${at}] : ${step}.value`;
  const pattern = left.declarations[0]?.id as Placed<es.Pattern>;
  const names = namesOf(pattern);
  const made =
    names === null
      ? `${text.slice(pattern.start, pattern.end).replaceAll('\n', ' ')} = ${value}`
      : taken(names, value, `$of${number}`);
  return [
    between(text, start, list.start, `for (let ${all} = `),
    between(text, list.end, code.start, `${head}; ${test}; ${at}++) { ${left.kind} ${made}; `),
    { start: code.end, end: code.end, text: ' }' },
  ];
}

// -------------------------------------------------------------------------------------------- array patterns

/** Null where it is more than a list of names. */
function namesOf(pattern: es.Pattern): readonly string[] | null {
  if (pattern.type !== 'ArrayPattern') return null;
  const names: string[] = [];
  for (const element of pattern.elements) {
    if (element !== null && element.type !== 'Identifier') return null;
    names.push(element === null ? '' : element.name);
  }
  return names;
}

function taken(names: readonly string[], value: string, from: string): string {
  return [`${from} = $take(${value}, ${names.length})`, ...picked(names, from)].join(', ');
}

function picked(names: readonly string[], from: string): string[] {
  return names.flatMap((name, index) => (name === '' ? [] : [`${name} = ${from}[${index}]`]));
}

function plainDeclarator(text: string, { id, init }: es.VariableDeclarator, number: number): Edit[] {
  const names = namesOf(id);
  if (names === null || init == null) return [];
  const [pattern, value] = [id as Placed<es.Pattern>, init as Placed<es.Expression>];
  const from = `$of${number}`;
  return [
    between(text, pattern.start, value.start, `${from} = $take(`),
    { start: value.end, end: value.end, text: [`, ${names.length})`, ...picked(names, from)].join(', ') },
  ];
}
