/**
 * Functions of the program that run where no call of them is in sight, whoever is at work:
 *
 *     JSON.stringify = (value) => { count += 1; return stringify(value); };      every reply runs it, and Node itself does
 *     Object.defineProperty(Object.prototype, 'id', { get() { return ++last; } });
 *     Module._load = (request, ...others) => { loads += 1; return load(request, ...others); };
 *     createHook({ init() { made += 1; } }).enable();                            so does everything asynchronous
 *     diagnostics_channel.subscribe('http.server.request.start', () => { count += 1; });
 *
 * Reads: Pipeline.
 * Gives: these functions, with where they were put.
 */
import { isCall } from '../analyzer/call-graph.js';
import { isCalledByLanguage } from '../analyzer/called-by-language.js';
import { whatIs } from '../analyzer/effects/patches.js';
import {
  ANY_PROPERTY,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
  VariableKind,
} from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { Shape } from '../analyzer/models.js';
import type { TokenId } from '../analyzer/tokens.js';

export interface RunsAnywhere {
  readonly fn: FunctionId;
  readonly op: OpId;
  /** What runs it: `JSON.stringify`. */
  readonly name: string;
}

export function* findRunsAnywhere(pipeline: Pipeline): Generator<RunsAnywhere> {
  const { facts, origins } = pipeline;
  // Of most ops there is nothing to say.
  const mayBePlatform = origins.mayBe((id) => platformShape(pipeline, id) !== null);
  const mayHear = origins.mayBe((id) => pathOfHearing(pipeline, id) !== null);
  for (let op = 0; op < facts.kind.length; op++) {
    const kind = facts.kind.get(op);
    if (kind === Op.store) {
      if (mayBePlatform(facts.a.get(op))) yield* stored(pipeline, op);
    } else if (kind === Op.write) yield* written(pipeline, op);
    else if (isCall(kind) && (definedOn(pipeline, op) !== definesNothing || mayHear(origins.calleeValue(op))))
      yield* given(pipeline, op);
  }
}

/** `Array.prototype.map = fn`: in the place of a function that others call. One by another name is called where that is written. */
function* stored({ facts, origins, models }: Pipeline, op: OpId): Generator<RunsAnywhere> {
  const atom = facts.c.get(op);
  const property = atom === ANY_PROPERTY ? null : facts.atomName(atom);
  for (const shape of platformShapes({ origins }, facts.a.get(op))) {
    const isOwn = property !== null && !isCalledByLanguage(property) && !isListed(models, shape, property);
    if (isOwn && !isOfLoader(shape)) continue;
    const name = property === null ? shape.path : `${shape.path}.${property}`;
    for (const fn of functionsIn({ origins }, facts.b.get(op), 0)) yield { fn, op, name };
  }
}

/** `globalThis.fetch = fn` */
function* written({ facts, origins, models }: Pipeline, op: OpId): Generator<RunsAnywhere> {
  const variable = facts.variables.get(facts.a.get(op));
  if (variable?.kind !== VariableKind.global || models.global(variable.name) === null) return;
  for (const fn of functionsIn({ origins }, facts.a.get(op), 0)) yield { fn, op, name: variable.name };
}

function* given(pipeline: Pipeline, op: OpId): Generator<RunsAnywhere> {
  const { facts, origins } = pipeline;
  const call = facts.d.get(op);
  const [holder, first] = definedOn(pipeline, op);
  const shapes = holder === NOTHING ? [] : [...platformShapes({ origins }, holder)];
  const name = shapes[0]?.path ?? hearing(pipeline, op);
  if (name === null) return;
  for (let index = first; index < facts.callCount.get(call); index++)
    for (const fn of functionsIn({ origins }, facts.argument(call, index), deepest)) yield { fn, op, name };
}

const definesNothing = [NOTHING, 0] as const;

/** Getters, and whole sets of functions at once. */
function definedOn({ facts }: Pipeline, op: OpId): readonly [holder: ValueId, firstArgument: number] {
  const call = facts.d.get(op);
  if (facts.kind.get(op) !== Op.method || facts.callCount.get(call) === 0) return definesNothing;
  const name = facts.atomName(facts.c.get(op));
  if (/^__define[GS]etter__$/.test(name)) return [facts.a.get(op), 1];
  return /^(defineProperty|defineProperties|assign)$/.test(name) ? [facts.argument(call, 0), 1] : definesNothing;
}

/** Who is told of what all code does, on the loop where it does it; null for all other calls. */
function hearing({ facts, origins }: Pipeline, op: OpId): string | null {
  for (const id of origins.calleeTokens(op)) {
    const path = pathOfHearing({ origins }, id);
    if (path === null) continue;
    if (!path.startsWith(CHANNEL)) return path;
    if (channelsOf({ facts, origins }, op).some((name) => name === null || ofNode.test(name))) return path;
  }
  return null;
}

const CHANNEL = 'diagnostics_channel.';

function pathOfHearing({ origins }: Pick<Pipeline, 'origins'>, id: TokenId): string | null {
  const token = origins.tokens.get(id);
  if (token.kind !== 'external') return null;
  const { path } = token.shape;
  const isAll = /^(async_hooks\.createHook|perf_hooks\.PerformanceObserver)$/.test(path);
  return isAll || (path.startsWith(CHANNEL) && /\.(subscribe|bindStore)$/.test(path)) ? path : null;
}

/** `subscribe('name', fn)`, or `channel('name').subscribe(fn)`; null where the name is not known. */
function channelsOf({ facts, origins }: Pick<Pipeline, 'facts' | 'origins'>, op: OpId): readonly (string | null)[] {
  const nameIn = (at: OpId): string | null => facts.strings.get(facts.argument(facts.d.get(at), 0)) ?? null;
  const own = nameIn(op);
  if (own !== null || facts.kind.get(op) !== Op.method) return [own];
  const made = origins.tokensOf(facts.a.get(op)).map((id) => origins.tokens.get(id));
  return made.map((token) => (token.kind === 'external' && token.site >= 0 ? nameIn(token.site) : null));
}

const ofNode =
  /^(tracing:)?(http2?|net|udp|undici|dns|child_process|process|worker_threads|module|console|crypto|fs)\b/;
const deepest = 2;

/** Things of the language and of Node that there are once. What prints and what replies has its own runners. */
function* platformShapes({ origins }: Pick<Pipeline, 'origins'>, value: ValueId): Generator<Shape> {
  for (const id of origins.tokensOf(value)) {
    const shape = platformShape({ origins }, id);
    if (shape !== null) yield shape;
  }
}

/** What loads modules is replaced by names that Node does not document: `Module._load = fn`, `Module.prototype.require = fn`, `require.extensions['.x'] = fn`. */
function isOfLoader({ package: from, path }: Shape): boolean {
  return from === 'module' || path === 'require.extensions';
}

function platformShape({ origins }: Pick<Pipeline, 'origins'>, id: TokenId): Shape | null {
  const token = origins.tokens.get(id);
  if (token.kind !== 'external' || token.site !== -1 || whatIs(token.shape) !== 'else') return null;
  return token.shape.package === '' || token.shape.isOfNode ? token.shape : null;
}

function isListed(models: Pipeline['models'], shape: Shape, property: string): boolean {
  const member = models.member(shape, property);
  return member !== null && !models.isUnknown(member);
}

function functionsIn({ origins }: Pick<Pipeline, 'origins'>, value: ValueId, depth: number): ReadonlySet<FunctionId> {
  const found = new Set<FunctionId>();
  const visit = (inner: ValueId, left: number): void => {
    for (const id of origins.tokensOf(inner)) {
      const fn = origins.tokens.functionOf(id);
      if (fn !== null && origins.mayRun(fn)) found.add(fn);
      if (left === 0 || origins.tokens.get(id).kind !== 'object') continue;
      for (const property of origins.tokens.knownProperties(id)?.values() ?? []) visit(property, left - 1);
    }
  };
  visit(value, depth);
  return found;
}
