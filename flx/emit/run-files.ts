/**
 * Reads: the whole program, and the folder that its run files will stand in.
 * Gives: the files that `fluxion run` starts from, by path: `start.json`, with the texts of modules that have cuts, `link.json`, and source maps.
 */
import { createHash } from 'node:crypto';
import { relative, resolve, sep } from 'node:path';
import type { Lift, LiftedFunction } from '../live-facts.js';
import type { Cut, Fluxion, FluxionId, FluxionProgram, LinkFacts, ModuleId } from '../program.js';
import type { LinkFluxion, LinkManifest, StartFile } from '../run-manifest.js';
import { sentVariables } from './check-cuts.js';
import { findHolding } from './check-next.js';
import { emitHomeModule, type HomeModule } from './home-module.js';
import { listTouches } from './list-touches.js';
import { findMovable, findWhole, findWhys } from './may-leave.js';

/** A program that is run from its text: what is on disk under the names of its modules is not what is meant. */
export interface Given {
  isOnDisk(file: string): boolean;
}

/** `folder`: absolute, without symbolic links in it. */
export function emitRunFiles(program: FluxionProgram, folder: string, given?: Given): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const modules: StartFile['modules'][number][] = [];
  const inserts: Record<ModuleId, HomeModule['inserts']> = {};
  const emitted = emitModules(program, folder);
  const made = new Set([...emitted.values()].flatMap(({ cuts }) => cuts));
  const { bound, whys } = findWhys(program);
  const movable = findMovable(program, made, whys);
  const open = new Map(program.link.open.map(({ fluxion, variables }) => [fluxion, variables]));
  const isMovable =
    open.size > 0 || program.fluxions.some(({ id, kind }) => movable.has(id) && (kind === 'start' || made.has(id)));
  for (const { id, file: source, text, kind } of program.sources) {
    const home = isMovable ? emitted.get(id) : undefined;
    const file = home === undefined && given === undefined ? null : `modules/${id}`;
    const isOnDisk = given?.isOnDisk(source) ?? true;
    const hash = hashOf(text);
    modules.push({ id, source, hash, kind, file, isOnDisk, text: file === null ? null : (home?.text ?? text) });
    if (home === undefined) continue;
    files.set(`modules/${id}.map`, home.map);
    inserts[id] = home.inserts;
  }
  for (const { id, file: source, text, kind } of program.packages)
    modules.push({
      id,
      source,
      hash: hashOf(text),
      kind,
      file: null,
      isOnDisk: true,
      text: null,
    });
  const promised = findPromised(program);
  const connectsOf = findConnects(program, movable);
  const messages = new Map(program.cuts.map((cut) => [cut.dest, sentVariables(cut)]));
  const whole = findWhole(program, bound);
  const holding = findHolding(program);
  const asking = new Set(program.link.asking);
  const captures = new Map(program.link.captures.map(({ fluxion, variables }) => [fluxion, variables]));
  const fluxions = program.fluxions.map((fluxion) => ({
    ...linkFluxion(fluxion, movable, made, promised, whys),
    connects: connectsOf(fluxion.id),
    message: messages.get(fluxion.id) ?? [],
    captures: captures.get(fluxion.id) ?? [],
    whole: whole.has(fluxion.id),
    holds: holding.has(fluxion.id),
    asks: asking.has(fluxion.id),
    open: open.get(fluxion.id) ?? null,
  }));
  const texts = given === undefined ? {} : Object.fromEntries(program.sources.map(({ id, text }) => [id, text]));
  const link: LinkManifest = {
    version: 1,
    fluxions,
    changing: findChanging(program),
    once: byModule(program.link.once),
    inserts,
    repeatable: program.link.repeatable,
    replaced: program.link.replaced,
    wrappers: program.link.wrappers,
    appNames: program.link.appNames,
    openClasses: program.link.openClasses,
    computed: findComputed(program),
    touches: listTouches(program.sources),
    texts,
  };
  const start: StartFile = { version: 1, entry: program.entry, movable: isMovable, failed: null, modules };
  return files.set('link.json', JSON.stringify(link)).set('start.json', JSON.stringify(start));
}

/** What the closures of the running app may do, of a program that was compiled with what the app said of them. */
export function emitLift(program: FluxionProgram): Lift {
  const closures = new Map(program.link.closures.map((closure) => [closure.fluxion, closure]));
  const describe = describeLifted(program);
  return {
    version: 1,
    closures: program.fluxions.flatMap((fluxion) => {
      const closure = closures.get(fluxion.id);
      return closure === undefined ? [] : [{ ...describe(fluxion), at: closure.at, index: closure.index }];
    }),
    functions: program.fluxions.flatMap((fluxion) =>
      fluxion.kind === 'start' && !closures.has(fluxion.id) ? [describe(fluxion)] : [],
    ),
    changing: findChanging(program),
    sources: Object.fromEntries([...program.sources, ...program.packages].map(({ id, text }) => [id, hashOf(text)])),
  };
}

function describeLifted(program: FluxionProgram): (fluxion: Fluxion) => LiftedFunction {
  const { whys } = findWhys(program);
  // Cuts are those of the program that runs, which are made for other parts.
  const movable = findMovable(program, new Set(), whys);
  const connectsOf = findConnects(program, movable);
  return ({ id, at, placement, reasons }) => {
    const isMovable = movable.has(id);
    const why = whys.get(id);
    const said = placement === 'replicated' ? [] : reasons.map(({ message }) => message);
    if (why !== undefined) said.push(why);
    else if (said.length === 0 && !isMovable) said.push('what goes on behind it stays on the main thread');
    return { at, movable: isMovable, reasons: said, connects: connectsOf(id) };
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Those with cuts; Node reads the others itself. */
function emitModules(program: FluxionProgram, folder: string): ReadonlyMap<ModuleId, HomeModule> {
  const emitted = new Map<ModuleId, HomeModule>();
  const cutsOf = new Map<ModuleId, Cut[]>();
  for (const cut of program.cuts) {
    const known = cutsOf.get(cut.module);
    if (known === undefined) cutsOf.set(cut.module, [cut]);
    else known.push(cut);
  }
  for (const source of program.sources) {
    const cuts = cutsOf.get(source.id);
    if (cuts === undefined) continue;
    const file = resolve(folder, 'modules', source.id);
    const fromThere = relative(resolve(file, '..'), source.file).split(sep).join('/');
    const module = emitHomeModule(source, cuts, { file: file.slice(file.lastIndexOf(sep) + 1), source: fromThere });
    if (module.cuts.length > 0) emitted.set(source.id, module);
  }
  return emitted;
}

function byModule(names: LinkFacts['once']): Record<ModuleId, string[]> {
  const found: Record<ModuleId, string[]> = {};
  for (const { module, name } of names) found[module] = [...(found[module] ?? []), name];
  return found;
}

/** What start-up alone sets is the same on all loops; what is touched by more is no business of those who may move. */
function findChanging({ variables, link }: FluxionProgram): Record<ModuleId, string[]> {
  const changing: Record<ModuleId, string[]> = {};
  const once = new Set(link.once.map(({ module, name }) => `${module} ${name}`));
  for (const { name, module, writes } of variables) {
    if (writes.length > 0 && !once.has(`${module} ${name}`)) changing[module] = [...(changing[module] ?? []), name];
  }
  return changing;
}

/** Those of whose runs something is made of the result: a callback's is nobody's. */
function findPromised({ fluxions }: FluxionProgram): ReadonlySet<FluxionId> {
  const rests = fluxions.filter(({ kind }) => kind === 'rest').map(({ id }) => id);
  const behindPromises = fluxions
    .flatMap(({ streams }) => streams)
    .filter(({ callee }) => /\.(then|catch|finally)$/.test(callee))
    .flatMap(({ dest }) => dest);
  return new Set([...rests, ...behindPromises]);
}

function findComputed({ fluxions }: FluxionProgram): readonly FluxionId[] {
  const isComputed = new Map<FluxionId, boolean>();
  for (const { streams } of fluxions) {
    for (const { type, dest, callee } of streams) {
      if (type !== 'start') continue;
      for (const id of dest) isComputed.set(id, callee.endsWith(']') && isComputed.get(id) !== false);
    }
  }
  return fluxions.filter(({ id, placement }) => isComputed.get(id) && placement !== 'replicated').map(({ id }) => id);
}

/** Of a fluxion and all that goes on behind it on its own loop. */
function findConnects(program: FluxionProgram, movable: ReadonlySet<FluxionId>): (id: FluxionId) => readonly string[] {
  const own = new Map(program.link.connects.map(({ fluxion, packages }) => [fluxion, packages]));
  const behind = new Map(program.fluxions.map(({ id, streams }) => [id, streams.flatMap(({ dest }) => dest)]));
  return (id) => {
    if (own.size === 0) return [];
    const seen = new Set<FluxionId>([id]);
    for (const each of seen) for (const dest of behind.get(each) ?? []) if (movable.has(dest)) seen.add(dest);
    return [...new Set([...seen].flatMap((each) => own.get(each) ?? []))].sort();
  };
}

function linkFluxion(
  fluxion: Fluxion,
  movable: ReadonlySet<FluxionId>,
  made: ReadonlySet<FluxionId>,
  promised: ReadonlySet<FluxionId>,
  whys: ReadonlyMap<FluxionId, string>,
): Omit<LinkFluxion, 'connects' | 'message' | 'captures' | 'whole' | 'holds' | 'asks' | 'open'> {
  const { id, kind, at, placement, tags, context } = fluxion;
  const { module, line, column } = at;
  const why = placement === 'replicated' ? (whys.get(id) ?? null) : null;
  const facts = { why, movable: movable.has(id), cut: made.has(id), promised: promised.has(id) };
  return { id, kind, module, line, column, placement, tags, context, ...facts };
}
