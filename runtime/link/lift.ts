/**
 * What the compiler makes of what the running app says.
 *
 * Reads: facts, the program that runs.
 * Gives: a Lift, from the cache or compiled now, in a process of its own that takes what time the app leaves it; null where
 *        there is none. Nothing waits for it but replicas.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lift, LiftedClosure, LiftedFunction, LiveFacts } from '../../flx/live-facts.js';
import type { Place } from '../../flx/program.js';
import type { LinkFluxion, LinkManifest, StartManifest } from '../../flx/run-manifest.js';
import cache from '../cache.cjs';
import process from '../node-process.cjs';
import { placeOf } from './live-facts.js';

export interface ProgramToLift {
  readonly folder: string;
  readonly manifest: StartManifest;
  /** Where it was compiled. */
  readonly cwd: string;
  readonly config: string | null;
  readonly env: NodeJS.ProcessEnv;
}

const COMPILER = fileURLToPath(new URL('../../bin/bundle/prepare.js', import.meta.url));

/** Who needs more of the processor's time, or has to wait for longer, serves as it is. */
const MOST_CPU_MS = 30_000;
const LONGEST_MS = 300_000;
const NICE = 10;

export async function findLift(facts: LiveFacts, program: ProgramToLift): Promise<Lift | null> {
  const text = JSON.stringify(facts);
  const key = cache.keyOf(['lift', program.folder, createHash('sha256').update(text).digest('hex')]);
  return readLift(key, program) ?? (await compileLift(key, text, program));
}

/** A file that has changed since the app started says nothing of the app that runs. */
function readLift(key: string, { manifest }: ProgramToLift): Lift | null {
  const text = cache.open(key)?.texts.get('lift.json');
  if (text === undefined) return null;
  const lift: Lift = JSON.parse(text);
  const isSame = manifest.modules.every(({ id, hash }) => lift.sources[id] === hash);
  const count = Object.keys(lift.sources).length;
  return lift.version === 1 && isSame && count === manifest.modules.length ? lift : null;
}

async function compileLift(key: string, text: string, program: ProgramToLift): Promise<Lift | null> {
  const root = cache.writableFolder();
  const entry = program.manifest.modules.find(({ id }) => id === program.manifest.entry);
  if (root === null || entry === undefined) return null;
  const folder = cache.newFolder(path.join(root, key));
  const file = `${folder}.facts`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text);
    const words = [COMPILER, 'entry', entry.source, folder, program.config ?? '', file, String(MOST_CPU_MS)];
    return (await runAside(words, program)) ? readLift(key, program) : null;
  } catch {
    return null;
  } finally {
    rmSync(file, { force: true });
  }
}

/** True where it came to its end. */
async function runAside(words: readonly string[], { cwd, env }: ProgramToLift): Promise<boolean> {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, NODE_CHANNEL_FD: _channel, ...plain } = env;
  const child = spawn(process.execPath, words, { cwd, env: plain, stdio: 'ignore' });
  child.unref();
  try {
    if (child.pid !== undefined) os.setPriority(child.pid, NICE);
  } catch {
    // It may have ended by now.
  }
  const stop = (): void => void child.kill('SIGKILL');
  const late = setTimeout(stop, LONGEST_MS).unref();
  process.once('exit', stop);
  const [code] = await once(child, 'close').catch(() => [null]);
  clearTimeout(late);
  process.off('exit', stop);
  return code === 0;
}

// --- what becomes of link.json --------------------------------------------------------------------------------------

/** What is said of a handler: of the closure that it is, or of the function that it is where there is but one. */
export function liftedBy(
  lift: Lift,
): (fluxion: LinkFluxion, is: { readonly at: Place; readonly index: number } | undefined) => LiftedClosure | null {
  const closures = new Map(lift.closures.map((closure) => [`${keyOf(closure.at)} ${closure.index}`, closure]));
  const functions = new Map<string, LiftedFunction>();
  for (const fn of lift.functions) {
    const known = functions.get(keyOf(fn.at));
    // Which of several it is nobody knows.
    if (known === undefined || known.movable) functions.set(keyOf(fn.at), fn);
  }
  return (fluxion, is) => {
    if (is !== undefined) return closures.get(`${keyOf(is.at)} ${is.index}`) ?? null;
    const fn = functions.get(keyOf(placeOf(fluxion)));
    return fn?.movable ? { ...fn, index: 0 } : null;
  };
}

function keyOf({ module, line, column }: Place): string {
  return `${module} ${line}:${column}`;
}

/** For home: the fluxion that a closure is. */
export function liftedFluxion(fluxion: LinkFluxion, { index, movable, reasons, connects }: LiftedClosure): LinkFluxion {
  const id = `${fluxion.id}:${index + 1}`;
  const is = movable
    ? ({ placement: 'replicated', tags: [], movable, why: null, connects } as const)
    : { why: reasons.join('; ') };
  return { ...fluxion, ...is, id, whole: movable, cut: false, message: [], captures: [], open: [] };
}

/** For both sides: what is to be compared. For a replica a function of which some closure may run there is one that may. */
export function withLift(link: LinkManifest, { closures, functions, changing }: Lift): LinkManifest {
  const free = new Set([...closures, ...functions].flatMap(({ at, movable }) => (movable ? [keyOf(at)] : [])));
  const fluxions = link.fluxions.map((fluxion) =>
    fluxion.kind === 'start' && fluxion.open !== null && free.has(keyOf(placeOf(fluxion)))
      ? { ...fluxion, movable: true, whole: true }
      : fluxion,
  );
  return { ...link, fluxions, changing };
}
