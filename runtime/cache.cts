/**
 * Compiled programs on disk, so that a second start need not compile.
 *
 *     <cache folder>/<key>/start.json     what starts the app
 *                          link.json      what spreads it over loops
 *                          modules/…      texts with cuts
 *                          inputs.json    the files that it was made from, with their hashes
 *
 * The key stands for the entry, the configuration, and the versions of Fluxion and Node. A folder counts only while each
 * input is as it was: by its hash, or by size and times where these cannot lie.
 */
import crypto = require('node:crypto');
import fs = require('node:fs');
import os = require('node:os');
import path = require('node:path');
import process = require('node:process');

/** A file that the compiler read; a hash of null says that there was none. */
interface Input {
  readonly file: string;
  readonly hash: string | null;
  readonly stamp: string | null;
}

interface Inputs {
  readonly version: 1;
  /** When the folder was finished, in milliseconds: what changed shortly before is looked at more closely. */
  readonly written: number;
  readonly files: readonly Input[];
}

/** Absolute; null where no folder can be had that only this user can write to. */
function cacheFolder(): string | null {
  const asked = process.env.FLUXION_CACHE;
  const base = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const candidates = asked ? [asked] : [path.join(base, 'fluxion'), path.join(os.tmpdir(), `fluxion-${userId()}`)];
  return candidates.map((folder) => path.resolve(folder)).find(isUsable) ?? null;
}

function userId(): number {
  return process.getuid?.() ?? 0;
}

function isUsable(folder: string): boolean {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = fs.statSync(folder);
    // What lies in there is run: nobody else may be able to put it there.
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return false;
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function keyOf(parts: readonly string[]): string {
  return crypto.createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 24);
}

/** True if all that the folder was made from is still the same. */
function isFresh(folder: string): boolean {
  const inputs = readInputs(folder);
  return inputs?.files.every((input) => isSame(input, inputs.written)) ?? false;
}

function readInputs(folder: string): Inputs | null {
  try {
    const inputs: Inputs = JSON.parse(fs.readFileSync(path.join(folder, 'inputs.json'), 'utf8'));
    return inputs.version === 1 ? inputs : null;
  } catch {
    return null;
  }
}

const SURE_AFTER_MS = 2000;

function isSame({ file, hash, stamp }: Input, written: number): boolean {
  const now = stampOf(file, written);
  return stamp !== null && now === stamp ? true : hashOf(file) === hash;
}

/** Null where the file may have been changed in the tick of the clock in which it was read. */
function stampOf(file: string, written: number): string | null {
  try {
    const { size, mtimeMs, ctimeMs, ino } = fs.statSync(file);
    return Math.max(mtimeMs, ctimeMs) > written - SURE_AFTER_MS ? null : `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  } catch {
    return null;
  }
}

/** As Node reads source files: a byte order mark is no part of the text. */
function hashOf(file: string): string | null {
  try {
    const text = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    return crypto.createHash('sha256').update(text).digest('hex');
  } catch {
    return null;
  }
}

/**
 * Written beside its place and moved there at once: whoever reads finds all of it or nothing. `hashes` has the texts that
 * were compiled, `others` names further files that had a say, which need not exist.
 */
function writeFolder(
  folder: string,
  files: ReadonlyMap<string, string>,
  hashes: ReadonlyMap<string, string>,
  others: readonly string[],
): void {
  const draft = `${folder}.${process.pid}.${crypto.randomBytes(4).toString('hex')}`;
  const written = Date.now();
  const stamped = (file: string, hash: string | null): Input => ({ file, hash, stamp: stampOf(file, written) });
  const all = [...hashes].map(([file, hash]) => stamped(file, hash));
  all.push(...others.map((file) => stamped(file, hashOf(file))));
  const manifest: Inputs = { version: 1, written, files: all };
  for (const [name, text] of [...files, ['inputs.json', JSON.stringify(manifest)] as const]) {
    const file = path.join(draft, name);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(file, text);
  }
  try {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(draft, folder);
  } catch {
    // Somebody else was faster: theirs is as good.
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

export = { cacheFolder, keyOf, isFresh, writeFolder };
