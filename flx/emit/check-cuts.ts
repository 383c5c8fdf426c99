/**
 * Reads:   a module's text and the cuts in it.
 * Gives:   those cuts whose code can be copied to the end of the module and means the same there, outer before inner;
 *          what is left out runs in place, as written.
 *
 * The pipeliner has chosen the cuts by its own view of the program. This looks at the text that will be copied, with
 * nothing but the scopes of the language: a name in a copy must be one of the copy's own, one of the message, one at
 * the top of the module, or a global.
 */
import type { Reference, Scope, ScopeManager, Variable } from 'escope';
import type * as es from 'estree';
import { analyze, parseWithRanges } from '../../syntax/parser.js';
import type { Cut, ModuleSource } from '../program.js';

export interface CheckedCut {
  readonly cut: Cut;
  /** The code is strict because of something below the top of the module: a directive of a function, a class. */
  readonly strict: boolean;
}

export interface CheckedCuts {
  readonly cuts: readonly CheckedCut[];
  /** What the module declares at its top. */
  readonly topNames: ReadonlySet<string>;
}

export function checkCuts(source: ModuleSource, cuts: readonly Cut[]): CheckedCuts {
  if (cuts.length === 0) return { cuts: [], topNames: new Set() };
  const tree = parseText(source.text, source.kind);
  const nodes = nodesIn(tree);
  const scopes = analyze(tree, { ecmaVersion: 2025, sourceType: source.kind });
  const checked = new Map<string, CheckedCut>();
  for (const cut of [...cuts].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const strict = isStrictAt(scopes, cut.start) && !topScope(scopes).isStrict;
    if (checked.has(cut.dest) || !isCuttable(nodes, cut)) continue;
    if (namesMeanTheSame(scopes, cut) && parsesAlone(source, cut, strict)) checked.set(cut.dest, { cut, strict });
  }
  return { cuts: [...checked.values()], topNames: new Set(topScope(scopes).set.keys()) };
}

/** The variables that travel in the message of a cut. */
export function sentVariables(cut: Cut): readonly string[] {
  return cut.kind === 'rest' ? [...new Set([...cut.message, ...cut.bound])] : cut.message;
}

function parseText(text: string, kind: ModuleSource['kind'] | 'script'): es.Program {
  // The parser's own node types name the same trees as estree's, a little more loosely.
  return parseWithRanges(text, kind);
}

// --- the code that is cut ------------------------------------------------------------------------------------------

type FunctionNode = es.FunctionDeclaration | es.FunctionExpression | es.ArrowFunctionExpression;

/** A callback is a whole function; a rest is the end of the body of an async function that gives one result. */
function isCuttable(nodes: readonly es.Node[], cut: Cut): boolean {
  if (cut.kind === 'callback') {
    return nodes.some((node) => isExpression(node) && startOf(node) === cut.start && endOf(node) === cut.end);
  }
  const around = nodes.find(
    (node) => isFunction(node) && endOf(node.body) - 1 === cut.end && startOf(node) < cut.start,
  );
  if (around === undefined || !isFunction(around) || !around.async || around.generator) return false;
  // The function is left at the cut: what is to happen in any case would happen twice.
  const isAroundCut = (node: es.Node): boolean =>
    startOf(node) > startOf(around) && startOf(node) < cut.start && cut.start < endOf(node);
  return !nodes.some((node) => node.type === 'TryStatement' && node.finalizer && isAroundCut(node));
}

function isFunction(node: es.Node): node is FunctionNode {
  return node.type === 'FunctionDeclaration' || isExpression(node);
}

function isExpression(node: es.Node): boolean {
  return node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';
}

function startOf(node: es.Node): number {
  return node.range?.[0] ?? -1;
}

function endOf(node: es.Node): number {
  return node.range?.[1] ?? -1;
}

function nodesIn(tree: es.Program): es.Node[] {
  const found: es.Node[] = [];
  const waiting: object[] = [tree];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (isNode(value)) found.push(value);
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
  return found;
}

function isNode(value: object): value is es.Node {
  return 'type' in value && typeof value.type === 'string';
}

// --- its names -----------------------------------------------------------------------------------------------------

function namesMeanTheSame(scopes: ScopeManager, cut: Cut): boolean {
  const message = new Map<string, Variable | null>(sentVariables(cut).map((name) => [name, null]));
  for (const reference of scopes.scopes.flatMap((scope) => scope.references)) {
    if (isInside(reference.identifier, cut) && !meansTheSame(scopes, cut, reference, message)) return false;
  }
  return true;
}

/** `message` notes which variable each name of the message stands for: it can be one only. */
function meansTheSame(
  scopes: ScopeManager,
  cut: Cut,
  { identifier, resolved }: Reference,
  message: Map<string, Variable | null>,
): boolean {
  const name = identifier.type === 'Identifier' ? identifier.name : '';
  const sent = message.get(name);
  if (resolved !== null && isOwn(resolved, cut)) return true;
  if (name === 'arguments') return false;
  if (sent === undefined) return resolved === null || isAtTop(scopes, resolved.scope);
  if (resolved === null || isAtTop(scopes, resolved.scope)) return false;
  message.set(name, resolved);
  return sent === null || sent === resolved;
}

/** All of its declarations are copied with the code. */
function isOwn(variable: Variable, cut: Cut): boolean {
  if (variable.defs.length > 0) return variable.defs.every(({ name }) => isInside(name, cut));
  // `arguments` is declared nowhere; it belongs to its function.
  return isInside(variable.scope.block, cut);
}

function isInside(node: object, { start, end }: Cut): boolean {
  if (!('range' in node) || !Array.isArray(node.range)) return false;
  const [from, to]: unknown[] = node.range;
  return typeof from === 'number' && typeof to === 'number' && from >= start && to <= end;
}

function topScope(scopes: ScopeManager): Scope {
  const all = scopes.scopes;
  // Below the global scope there is the one of the module, or of the function that Node wraps around CommonJS.
  return all[1] ?? (all[0] as Scope);
}

function isAtTop(scopes: ScopeManager, scope: Scope): boolean {
  return scope === topScope(scopes) || scope === scopes.scopes[0];
}

function isStrictAt(scopes: ScopeManager, offset: number): boolean {
  const around = scopes.scopes.filter(({ block }) => {
    const range = block.range ?? [0, 0];
    return range[0] <= offset && offset < range[1];
  });
  // An outer scope comes before those in it.
  return around.at(-1)?.isStrict ?? false;
}

// --- its syntax ----------------------------------------------------------------------------------------------------

/** `super`, `new.target`, private names of a class around it, a variable declared twice: no copy without these. */
function parsesAlone({ text, kind }: ModuleSource, cut: Cut, strict: boolean): boolean {
  const copy = text.slice(cut.start, cut.end);
  const message = sentVariables(cut).join(', ');
  const code =
    cut.kind === 'callback'
      ? `(${message}) => { ${strict ? "'use strict';" : ''} return ${copy} };`
      : `async (${message}) => { ${strict ? "'use strict';" : ''} ${'try {'.repeat(cut.openTries)} ${copy} };`;
  try {
    parseText(code, kind === 'module' ? 'module' : 'script');
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
