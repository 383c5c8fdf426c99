/**
 * Compiled programs on disk, so that a second start need not compile.
 *
 *     <cache folder>/<key>/current           the name of the version that counts
 *                          <name>/inputs.json  what it was made from, and hashes of all that lies here
 *                                 start.json   what starts the app, with texts that have cuts
 *                                 link.json    what spreads it over loops
 *                                 modules/…    source maps of these texts
 *                                 used-<pid>   a process that serves with it
 *
 * The key stands for the entry, the configuration, and the versions of Fluxion and Node. A version is never changed once it is
 * there: who runs with it goes on to read it while others compile anew. It counts only while each input is as it was: by
 * its hash, or by size and times where these cannot lie.
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
  /** In milliseconds, before the first file was read: what changed shortly before, or later, is looked at more closely. */
  readonly begun: number;
  /** It does not count after this time. */
  readonly until: number | null;
  readonly files: readonly Input[];
  /** Of what lies in the folder, except for source maps. */
  readonly made: { readonly [name: string]: string };
}

interface Compiled {
  readonly folder: string;
  readonly texts: ReadonlyMap<string, string>;
}

// --- where ----------------------------------------------------------------------------------------------------------

function places(): readonly string[] {
  const asked = process.env.FLUXION_CACHE;
  const home = homeFolder();
  const base = process.env.XDG_CACHE_HOME || (home === null ? null : path.join(home, '.cache'));
  const own = asked || (base === null ? null : path.join(base, 'fluxion'));
  return [own, path.join(os.tmpdir(), `fluxion-${userId()}`)].flatMap((place) => (place ? [path.resolve(place)] : []));
}

/** Throws where the system does not know the user. */
function homeFolder(): string | null {
  try {
    return os.homedir();
  } catch {
    return null;
  }
}

function userId(): number {
  return process.getuid?.() ?? 0;
}

/** What lies in there is run: nobody else may be able to put it there. */
function isTrusted(folder: string): boolean {
  try {
    const { uid, mode } = fs.statSync(folder);
    return process.getuid === undefined || ((uid === process.getuid() || uid === 0) && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** A folder that is asked for by name others may read: an image is made by root, and run by somebody else. */
const FOR_READERS = 0o755;

function isAsked(folder: string): boolean {
  const asked = process.env.FLUXION_CACHE;
  return asked !== undefined && asked !== '' && path.resolve(asked) === folder;
}

/** Absolute; null where no folder can be had that only this user can write to. */
function writableFolder(): string | null {
  return places().find(isWritable) ?? null;
}

function isWritable(folder: string): boolean {
  try {
    makeFolder(folder, isAsked(folder) ? FOR_READERS : 0o700);
    fs.accessSync(folder, fs.constants.W_OK);
    return isTrusted(folder);
  } catch {
    return false;
  }
}

/** Node's own way to make what is above it never ends where the system says that there is no such folder of one that is there, as in `/proc`. */
function makeFolder(folder: string, mode: number): void {
  if (isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) makeFolder(above, mode);
  try {
    fs.mkdirSync(folder, { mode });
  } catch (error) {
    // Another start may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(place: string): boolean {
  return fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

function keyOf(parts: readonly string[]): string {
  return sha256(parts.join('\0')).slice(0, 24);
}

// --- reading --------------------------------------------------------------------------------------------------------

/** Null unless all that it was made from is still the same, and all that was made is there as it was written. */
function open(key: string): Compiled | null {
  for (const place of places()) {
    if (!isTrusted(place)) continue;
    const compiled = openIn(path.join(place, key));
    if (compiled !== null) return compiled;
  }
  return null;
}

function openIn(keyFolder: string): Compiled | null {
  try {
    const name = fs.readFileSync(path.join(keyFolder, 'current'), 'utf8');
    if (!/^[0-9a-f]{16}$/.test(name)) return null;
    const folder = path.join(keyFolder, name);
    const inputs = readInputs(folder);
    if (inputs === null || !inputs.files.every((input) => isSame(input, inputs.begun))) return null;
    if (inputs.until !== null && Date.now() > inputs.until) return null;
    const texts = new Map<string, string>();
    for (const [file, hash] of Object.entries(inputs.made)) {
      const text = fs.readFileSync(path.join(folder, file), 'utf8');
      if (sha256(text) !== hash) return null;
      texts.set(file, text);
    }
    keepFromPruning(folder);
    return { folder, texts };
  } catch {
    return null;
  }
}

/** The first line is the hash of the rest. */
function readInputs(folder: string): Inputs | null {
  const text = fs.readFileSync(path.join(folder, 'inputs.json'), 'utf8');
  const end = text.indexOf('\n');
  const rest = text.slice(end + 1);
  if (text.slice(0, Math.max(end, 0)) !== sha256(rest)) return null;
  const inputs: Inputs = JSON.parse(rest);
  return inputs.version === 1 ? inputs : null;
}

const SURE_AFTER_MS = 2000;

function isSame({ file, hash, stamp }: Input, begun: number): boolean {
  return (stamp !== null && stampOf(file, begun) === stamp) || hashOf(file) === hash;
}

/** Null where the file may have been changed since it was read, or in the tick of the clock before. */
function stampOf(file: string, begun: number): string | null {
  try {
    const { size, mtimeMs, ctimeMs, ino } = fs.statSync(file);
    return Math.max(mtimeMs, ctimeMs) > begun - SURE_AFTER_MS ? null : `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  } catch {
    return null;
  }
}

/** As Node reads source files: a byte order mark is no part of the text. Of a folder it is the names in it that count. */
function hashOf(file: string): string | null {
  try {
    return sha256(fs.readFileSync(file, 'utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EISDIR' ? folderHash(file) : null;
  }
}

function folderHash(folder: string): string | null {
  try {
    return sha256(fs.readdirSync(folder).sort().join('\0'));
  } catch {
    return null;
  }
}

function sha256(text: string): string {
  return crypto.createHash('sha256').update(text).digest('hex');
}

// --- writing --------------------------------------------------------------------------------------------------------

interface Made {
  readonly files: ReadonlyMap<string, string>;
  /** The texts that were compiled. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Further files that had a say; they need not exist. */
  readonly others: readonly string[];
  readonly begun: number;
  readonly until?: number;
}

/** A folder of its own below the key's, which does not exist yet. */
function newFolder(keyFolder: string): string {
  return path.join(keyFolder, crypto.randomBytes(8).toString('hex'));
}

/** Written beside its place and moved there at once: whoever reads finds all of it or nothing. */
function write(folder: string, made: Made): void {
  const draft = `${folder}.draft`;
  const current = `${folder}.current`;
  try {
    writeDraft(draft, made);
    fs.renameSync(draft, folder);
    fs.writeFileSync(current, path.basename(folder));
    fs.renameSync(current, path.join(path.dirname(folder), 'current'));
  } catch (error) {
    // A disk that is full is not to be filled further with each start.
    for (const left of [draft, current]) removeIfThere(left);
    throw error;
  }
}

function removeIfThere(place: string): void {
  try {
    fs.rmSync(place, { recursive: true, force: true });
  } catch {
    // Where nothing can be written, nothing is left either.
  }
}

function writeDraft(draft: string, { files, hashes, others, begun, until }: Made): void {
  const stamped = (file: string, hash: string | null): Input => ({ file, hash, stamp: stampOf(file, begun) });
  const inputs = [...hashes].map(([file, hash]) => stamped(file, hash));
  inputs.push(...others.filter((file) => !hashes.has(file)).map((file) => stamped(file, hashOf(file))));
  const checked = [...files].filter(([name]) => !name.endsWith('.map'));
  const made = Object.fromEntries(checked.map(([name, text]) => [name, sha256(text)]));
  const rest = JSON.stringify({ version: 1, begun, until: until ?? null, files: inputs, made } satisfies Inputs);
  for (const [name, text] of [...files, ['inputs.json', `${sha256(rest)}\n${rest}`] as const]) {
    const file = path.join(draft, name);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: FOR_READERS });
    fs.writeFileSync(file, text);
  }
}

// --- keeping it small -----------------------------------------------------------------------------------------------

const DAY_MS = 24 * 60 * 60 * 1000;
const UNUSED_MS = 30 * DAY_MS;
/** Long enough for anyone who has just begun to read or to write there. */
const GRACE_MS = DAY_MS / 24;
const MOST_KEYS = 200;

/** A folder's own time says when it was last used, to the day. */
function keepFromPruning(folder: string): void {
  try {
    const now = Date.now();
    if (now - fs.statSync(folder).mtimeMs > DAY_MS) fs.utimesSync(folder, now / 1000, now / 1000);
  } catch {
    // It may belong to somebody else.
  }
}

/** For a process that will read in this folder for as long as it runs. */
function markUsed(folder: string): void {
  try {
    for (const pid of usersOf(folder)) if (!isAlive(pid)) fs.rmSync(path.join(folder, `used-${pid}`), { force: true });
    fs.writeFileSync(path.join(folder, `used-${process.pid}`), '');
  } catch {
    // Then nobody can drop it either.
  }
}

function usersOf(folder: string): readonly number[] {
  return fs.readdirSync(folder).flatMap((name) => {
    const pid = /^used-(\d+)$/.exec(name)?.[1];
    return pid === undefined ? [] : [Number(pid)];
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Drops what nobody has used for long, what was replaced, and what was never finished. After a compile, not at a start. */
function prune(root: string): void {
  const now = Date.now();
  const keys = listFolders(root).filter((name) => /^[0-9a-f]{24}$/.test(name));
  const used = keys.map((name) => ({ keyFolder: path.join(root, name), at: pruneKey(path.join(root, name), now) }));
  used.sort((a, b) => b.at - a.at);
  for (const [index, { keyFolder, at }] of used.entries()) {
    const isOld = now - at > UNUSED_MS || (index >= MOST_KEYS && now - at > GRACE_MS);
    if (isOld && !listFolders(keyFolder).some((name) => isInUse(path.join(keyFolder, name)))) drop(keyFolder);
  }
}

/** Gives the time when something in there was last used. */
function pruneKey(keyFolder: string, now: number): number {
  let last = 0;
  const current = readOrNull(path.join(keyFolder, 'current'));
  for (const name of listFolders(keyFolder)) {
    const folder = path.join(keyFolder, name);
    const at = timeOf(folder);
    if (name !== current && now - at > GRACE_MS && !isInUse(folder)) drop(folder);
    else last = Math.max(last, at);
  }
  return last;
}

function isInUse(folder: string): boolean {
  try {
    return usersOf(folder).some(isAlive);
  } catch {
    return true;
  }
}

function listFolders(folder: string): readonly string[] {
  try {
    return fs
      .readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function timeOf(folder: string): number {
  try {
    return fs.statSync(folder).mtimeMs;
  } catch {
    return 0;
  }
}

function readOrNull(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function drop(folder: string): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true });
  } catch {
    // Somebody else's; it is theirs to drop.
  }
}

export = { keyOf, open, writableFolder, newFolder, write, markUsed, prune };
