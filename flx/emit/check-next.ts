/**
 * Reads: where fluxions pass their requests on by `next`, and the text of these modules.
 * Gives: the fluxions that go on behind that, or wait for the end of what follows.
 *
 * At home `next()` comes back when all that follows in the chain has run, or has begun to wait. A handler on another loop
 * can only send word: what it does behind that call would be done before the chain goes on. So nothing may be behind it
 * that somebody could notice.
 *
 *     if (!user) return next();          await next(error);                 next();
 *     res.json(user)      (not behind)   res.end()          (behind)        return Promise.resolve(result)   (nobody can tell)
 */

import type * as es from 'estree';
import { parseWithRanges } from '../../syntax/parser.js';
import type { FluxionId, FluxionProgram, LateWrite, ModuleSource, Passing, Span } from '../program.js';
import { findWaiting } from './check-endings.js';

export function findGoingOn(program: FluxionProgram): ReadonlySet<FluxionId> {
  const unclear = program.link.passes.flatMap(({ fluxion, isUnclear }) => (isUnclear ? [fluxion] : []));
  return new Set([...findWaiting(program), ...unclear, ...findBehindNext(program)]);
}

/**
 * The same from the other side: what a handler does at home behind `next()` finds that all that follows has run, so what follows has to
 * run there too. Who waits for the end of a response finds that in any case, and what code does that nobody has read is its own affair.
 *
 *     app.use((req, res, next) => { next(); if (!res.headersSent) res.sendStatus(404); });
 */
export function findHolding(program: FluxionProgram): ReadonlySet<FluxionId> {
  const holding = new Set(findBehindNext(program));
  if (holding.size === 0) return holding;
  // A listener or callback that does so belongs to the handler of whose request it is.
  for (let size = 0; size !== holding.size; ) {
    size = holding.size;
    for (const { id, kind, streams } of program.fluxions)
      if (kind !== 'main' && streams.some(({ dest }) => dest.some((each) => holding.has(each)))) holding.add(id);
  }
  return holding;
}

function findBehindNext(program: FluxionProgram): readonly FluxionId[] {
  const walkedOf = walkSources(program);
  const { passes, beside } = program.link;
  const within = passes.flatMap(({ fluxion, passing }) =>
    passing.some((each) => goesOn(each, walkedOf)) ? [fluxion] : [],
  );
  return [...within, ...beside];
}

/** Those whose call one run may execute, before or behind, that passes the request on as well. */
export function findBeside(program: FluxionProgram, writes: readonly LateWrite[]): readonly LateWrite[] {
  const walkedOf = walkSources(program);
  return writes.filter(
    ({ calls, passing }) => passing === null || calls.some((each) => isBeside(each, passing, walkedOf)),
  );
}

function isBeside(
  { module, call }: LateWrite['calls'][number],
  passing: readonly Passing[],
  walkedOf: (id: string) => Walked | null,
): boolean {
  const walked = walkedOf(module);
  const node = walked === null ? null : callAt(walked, call);
  if (walked === null || node === null) return true;
  const calls = passing.filter((each) => each.module === module).flatMap((each) => each.calls);
  return calls.some((span) => {
    const next = callAt(walked, span);
    const goesOnFirst = !isAwaited(node, walked) && next !== null && isBehind(span, node, walked);
    return next === null || goesOnFirst || isBehind(call, next, walked);
  });
}

/** What comes behind the call waits for it: `await load(req)`, `await Promise.all([load(req), count(req)])`. */
function isAwaited(call: CallNode, { parents }: Walked): boolean {
  let node: es.Node = call;
  for (let parent = parents.get(node); parent !== undefined; parent = parents.get(node)) {
    if (parent.type === 'AwaitExpression') return true;
    const isListed = parent.type === 'ArrayExpression' || (parent.type === 'CallExpression' && waitsForAll(parent));
    if (!isListed && !isChained(parent, node)) return false;
    node = parent;
  }
  return false;
}

function waitsForAll({ callee }: es.SimpleCallExpression): boolean {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return false;
  return callee.object.name === 'Promise' && isNamed(callee, /^all(Settled)?$/);
}

/** `load(req).catch(log)` */
function isChained(parent: es.Node, node: es.Node): boolean {
  if (parent.type === 'MemberExpression') return parent.object === node && isNamed(parent, /^(then|catch|finally)$/);
  return parent.type === 'CallExpression' && parent.callee === node && node.type === 'MemberExpression';
}

function isNamed({ property, computed }: es.MemberExpression, names: RegExp): boolean {
  return !computed && property.type === 'Identifier' && names.test(property.name);
}

/** Is something noticed behind one of the calls? Other calls, and what is thrown, do not count. */
export function findBehindCalls(program: FluxionProgram, all: readonly Passing[]): boolean {
  const walkedOf = walkSources(program);
  return all.some(({ module, calls, noticed }) => {
    const walked = walkedOf(module);
    return (
      walked === null ||
      calls.some((span) => {
        const call = callAt(walked, span);
        return call === null || noticed.some((each) => !isSame(each, span) && isBehind(each, call, walked));
      })
    );
  });
}

function walkSources({ sources, packages }: FluxionProgram): (id: string) => Walked | null {
  const modules = new Map([...sources, ...packages].map((source) => [source.id, source]));
  const walked = new Map<string, Walked>();
  return (id) => {
    const [known, source] = [walked.get(id), modules.get(id)];
    if (known !== undefined || source === undefined) return known ?? null;
    const fresh = walk(parseText(source));
    walked.set(id, fresh);
    return fresh;
  };
}

function goesOn({ module, calls, noticed }: Passing, walkedOf: (id: string) => Walked | null): boolean {
  const walked = walkedOf(module);
  if (walked === null) return true;
  return calls.some((span) => {
    const call = callAt(walked, span);
    if (call === null) return true;
    const others = [...calls, ...noticed].filter((each) => !isSame(each, span));
    return [...others, ...throwsBeside(call, walked)].some((each) => isBehind(each, call, walked));
  });
}

function isSame(a: Span, b: Span): boolean {
  return a.start === b.start && a.end === b.end;
}

// --- the tree -----------------------------------------------------------------------------------------------------------

type CallNode = es.SimpleCallExpression | es.NewExpression;

interface Walked {
  readonly calls: ReadonlyMap<string, CallNode>;
  readonly throws: readonly es.ThrowStatement[];
  readonly parents: ReadonlyMap<es.Node, es.Node>;
}

function parseText({ text, kind }: ModuleSource): es.Program {
  // The parser's own node types name the same trees as estree's, a little more loosely.
  return parseWithRanges(text, kind);
}

function walk(tree: es.Program): Walked {
  const calls = new Map<string, CallNode>();
  const throws: es.ThrowStatement[] = [];
  const parents = new Map<es.Node, es.Node>();
  const waiting: es.Node[] = [tree];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.type === 'CallExpression' || node.type === 'NewExpression')
      calls.set(`${startOf(node.callee)} ${endOf(node)}`, node);
    if (node.type === 'ThrowStatement') throws.push(node);
    for (const value of Object.values(node)) {
      for (const below of Array.isArray(value) ? value : [value]) {
        if (!isNode(below)) continue;
        parents.set(below, node);
        waiting.push(below);
      }
    }
  }
  return { calls, throws, parents };
}

function isNode(value: unknown): value is es.Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function callAt({ calls }: Walked, { start, end }: Span): CallNode | null {
  return calls.get(`${start} ${end}`) ?? null;
}

function startOf(node: es.Node): number {
  return node.range?.[0] ?? -1;
}

function endOf(node: es.Node): number {
  return node.range?.[1] ?? -1;
}

function throwsBeside(call: CallNode, walked: Walked): readonly Span[] {
  const fn = functionAround(call, walked);
  const beside = walked.throws.filter((node) => functionAround(node, walked) === fn);
  return beside.map((node) => ({ start: startOf(node), end: endOf(node) }));
}

function functionAround(node: es.Node, { parents }: Walked): es.Node | undefined {
  let at = parents.get(node);
  while (at !== undefined && !isFunction(at)) at = parents.get(at);
  return at;
}

// --- what is behind a call ----------------------------------------------------------------------------------------------

/**
 * Goes from the call outwards to its function. At each step: what of the node around it comes behind the one that we came
 * from? Whatever is not known to come before counts as behind.
 */
function isBehind(span: Span, call: CallNode, { parents }: Walked): boolean {
  let isOver = false;
  let isMet = false;
  let node: es.Node = call;
  for (let parent = parents.get(node); parent !== undefined && !isFunction(parent); parent = parents.get(node)) {
    if (isOver) {
      if (parent.type === 'TryStatement' && isFinally(span, parent)) return true;
    } else {
      const isHere: boolean = !isMet && isWithin(span, parent) && !isWithin(span, node);
      if (isHere && !isSkipped(span, parent, node)) return true;
      isMet ||= isHere;
      // What comes before comes behind as well, the next time.
      if (isMet && isLoop(parent)) return true;
      isOver = endsFlow(parent, node);
    }
    node = parent;
  }
  return false;
}

function isLoop({ type }: es.Node): boolean {
  return /^(For|ForIn|ForOf|While|DoWhile)Statement$/.test(type);
}

function isFunction({ type }: es.Node): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';
}

/** A call whose result is made of what is within is behind it, even if both begin at the same place. */
function isWithin({ start, end }: Span, node: es.Node): boolean {
  return start >= startOf(node) && (end === null ? start < endOf(node) : end <= endOf(node));
}

function isFinally(span: Span, { finalizer }: es.TryStatement): boolean {
  return finalizer !== null && finalizer !== undefined && isWithin(span, finalizer);
}

/** Behind it nothing of the function comes but `finally`. */
function endsFlow(parent: es.Node, node: es.Node): boolean {
  if (parent.type === 'ReturnStatement') return true;
  if (parent.type === 'BlockStatement') return behindIn(parent.body, node).some(isEnd);
  if (parent.type === 'SwitchCase') return behindIn(parent.consequent, node).some(isEnd);
  return false;
}

function isEnd({ type }: es.Node): boolean {
  return type === 'ReturnStatement';
}

function behindIn(list: readonly es.Node[], node: es.Node): readonly es.Node[] {
  return list.slice(list.indexOf(node) + 1);
}

/** It comes before, or is not executed where the other one is. `span` is in `parent`, and not in `node`. */
function isSkipped(span: Span, parent: es.Node, node: es.Node): boolean {
  const isIn = (other: es.Node | null | undefined): boolean => other != null && other !== node && isWithin(span, other);
  switch (parent.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return isIn(parent.test) || node !== parent.test;
    case 'LogicalExpression':
      return isIn(parent.left);
    case 'SequenceExpression':
      return isBefore(span, parent.expressions, node);
    case 'CallExpression':
    case 'NewExpression':
      return isBefore(span, [parent.callee, ...parent.arguments], node);
    case 'TryStatement':
      return !isFinally(span, parent);
    case 'BlockStatement':
      return isBefore(span, parent.body, node) || isPastEnd(span, parent.body, node);
    case 'SwitchCase':
      return isBefore(span, parent.consequent, node) || isPastEnd(span, parent.consequent, node) || isIn(parent.test);
    case 'SwitchStatement':
      return isIn(parent.discriminant) || isOtherCase(span, parent, node);
    default:
      return false;
  }
}

function isBefore(span: Span, list: readonly es.Node[], node: es.Node): boolean {
  return list.slice(0, Math.max(0, list.indexOf(node))).some((each) => isWithin(span, each));
}

/** Behind a statement that ends all, or ends the case. */
function isPastEnd(span: Span, list: readonly es.Node[], node: es.Node): boolean {
  const behind = behindIn(list, node);
  const end = behind.findIndex(
    (each) => isEnd(each) || each.type === 'BreakStatement' || each.type === 'ContinueStatement',
  );
  return end !== -1 && behind.slice(end + 1).some((each) => isWithin(span, each));
}

/** A case that is left by its last statement does not run on into the next one. */
function isOtherCase(span: Span, { cases }: es.SwitchStatement, node: es.Node): boolean {
  const nodes: readonly es.Node[] = cases;
  const index = nodes.indexOf(node);
  const last = cases[index]?.consequent.at(-1);
  const isLeft =
    last !== undefined && (isEnd(last) || last.type === 'BreakStatement' || last.type === 'ContinueStatement');
  const at = cases.findIndex((each) => isWithin(span, each));
  return at !== -1 && (at < index || isLeft);
}
