import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { BadInput } from '../../diagnostics/bad-input.js';
import { outputFailed, outputNotEmpty } from '../../diagnostics/catalogue.js';
import { invariant } from '../../diagnostics/invariant.js';
import { systemErrorCode, systemErrorWords } from '../../diagnostics/system-error.js';

/**
 * Reads:   the emitted files by path (relative, forward slashes), and what is in the output folder now.
 * Gives:   nothing; afterwards the folder holds these files and no others, or is as it was.
 * Reports: cli/output-not-empty, cli/output-failed, as BadInput.
 *
 * A folder is replaced only if it is empty or if everything in it was written by an earlier run. Which files these are
 * says `fluxion.json` in it: `"generator": "fluxion"` and `"files"`, both of which are added here.
 *
 *     .out.fluxion-new-1a2b/   everything is written here first, beside the output folder
 *     out/                     then this is renamed to .out.fluxion-old-1a2b, and the new folder to out
 *
 * `sources` are files of the program: a folder that one of them lies in is never replaced.
 */
export async function writeOutput(
  dir: string,
  files: ReadonlyMap<string, string>,
  sources: readonly string[] = [],
): Promise<void> {
  checkNames(files);
  const output = withMarker(files);
  try {
    const folder = await realFolder(resolve(dir));
    await checkReplaceable(folder, dir, sources);
    await replaceFolder(folder, output);
  } catch (error) {
    if (error instanceof BadInput || systemErrorCode(error) === null) throw error;
    throw failed(dir, systemErrorWords(error));
  }
}

function failed(shown: string, reason: string): BadInput {
  return new BadInput(
    outputFailed(`"${shown}"`, `${reason}; what was there before is unchanged`, 'choose another folder after -o'),
  );
}

const MARKER = 'fluxion.json';

function checkNames(files: ReadonlyMap<string, string>): void {
  for (const name of files.keys()) {
    const plain = name !== '' && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
    invariant(plain && !isAbsolute(name) && !name.includes('\\'), `"${name}" is no path within the output folder`);
  }
}

/** The marker is made where it is relied on. What else the emitter says in fluxion.json stays as it is. */
function withMarker(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const names = [...new Set([...files.keys(), MARKER])].sort();
  const text = files.get(MARKER) ?? '{}';
  const manifest = parseMarker(text);
  if (manifest !== null && manifest.files.length === names.length && manifest.files.every((f, i) => f === names[i])) {
    return files;
  }
  const said: unknown = JSON.parse(text);
  invariant(isRecord(said), `${MARKER} must hold an object`);
  const marked = { ...said, generator: 'fluxion', files: names };
  return new Map([...files, [MARKER, `${JSON.stringify(marked, null, 2)}\n`]]);
}

interface Marker {
  readonly files: readonly string[];
}

function parseMarker(text: string): Marker | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value.generator !== 'fluxion' || !Array.isArray(value.files)) return null;
    return { files: value.files.filter((name) => typeof name === 'string') };
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where the folder really is: a symbolic link to it stays, and what it leads to is replaced. */
async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return folder;
    throw error;
  }
}

async function checkReplaceable(folder: string, shown: string, sources: readonly string[]): Promise<void> {
  const stats = await stat(folder).catch(nullIfAbsent);
  if (stats === null) return;
  if (!stats.isDirectory()) throw failed(shown, 'it is a file, not a folder');
  const source = sources.find((file) => isBelow(file, folder));
  if (source !== undefined) {
    throw new BadInput(outputNotEmpty(shown, [`the program's own ${relative(folder, source).split(sep).join('/')}`]));
  }
  const foreign = await foreignFiles(folder);
  if (foreign.length > 0) throw new BadInput(outputNotEmpty(shown, foreign));
}

function nullIfAbsent(error: unknown): null {
  if (systemErrorCode(error) === 'ENOENT') return null;
  throw error;
}

function isBelow(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/** What in the folder was not written by an earlier run. */
async function foreignFiles(folder: string): Promise<readonly string[]> {
  const present = await allFiles(folder);
  const marker = present.includes(MARKER) ? parseMarker(await readFile(join(folder, MARKER), 'utf8')) : null;
  const ours = new Set(marker?.files ?? []);
  return present.filter((name) => !ours.has(name) && !LEFTOVER.test(name)).sort();
}

/** Folders count only if they are empty: those were not made by us either. */
async function allFiles(folder: string, prefix = ''): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const name = prefix + entry.name;
    if (!entry.isDirectory()) {
      names.push(name);
      continue;
    }
    const below = await allFiles(join(folder, entry.name), `${name}/`);
    names.push(...(below.length === 0 ? [`${name}/`] : below));
  }
  return names;
}

async function replaceFolder(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const tag = randomBytes(4).toString('hex');
  // Whoever stands in the folder would find himself in a deleted one.
  if (isBelow(process.cwd(), folder)) return replaceContent(folder, files, tag);
  try {
    await replaceWhole(folder, files, tag);
  } catch (error) {
    const fixed = FIXED_IN_PLACE.has(systemErrorCode(error) ?? '') && (await stat(folder).catch(nullIfAbsent)) !== null;
    if (!fixed) throw error;
    await replaceContent(folder, files, tag);
  }
}

/** The folder is a mount point, or the one around it may not be written to. */
const FIXED_IN_PLACE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EXDEV']);

async function replaceWhole(folder: string, files: ReadonlyMap<string, string>, tag: string): Promise<void> {
  const parent = dirname(folder);
  const madeParent = await mkdir(parent, { recursive: true });
  const fresh = join(parent, `.${basename(folder)}.fluxion-new-${tag}`);
  const old = join(parent, `.${basename(folder)}.fluxion-old-${tag}`);
  try {
    await writeAll(fresh, files);
    await swap(folder, fresh, old);
  } catch (error) {
    await removeLeftover(fresh);
    if (madeParent !== undefined) await removeEmptyFolders(parent, madeParent);
    throw error;
  }
}

async function writeAll(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder);
  const folders = new Set([...files.keys()].map((name) => dirname(join(folder, name))));
  for (const below of folders) await mkdir(below, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text, { flag: 'wx' });
}

async function swap(folder: string, fresh: string, old: string): Promise<void> {
  const existed = await rename(folder, old).then(() => true, falseIfAbsent);
  try {
    await rename(fresh, folder);
  } catch (error) {
    if (existed) await rename(old, folder);
    throw error;
  }
  if (existed) await removeLeftover(old);
}

function falseIfAbsent(error: unknown): false {
  if (systemErrorCode(error) === 'ENOENT') return false;
  throw error;
}

/** As `replaceWhole`, but the folder itself stays: its content goes out and comes in by renames within it. */
async function replaceContent(folder: string, files: ReadonlyMap<string, string>, tag: string): Promise<void> {
  const fresh = join(folder, `.fluxion-new-${tag}`);
  const old = join(folder, `.fluxion-old-${tag}`);
  const undo: (() => Promise<void>)[] = [];
  const move = async (from: string, to: string): Promise<void> => {
    await rename(from, to);
    undo.unshift(() => rename(to, from));
  };
  try {
    const before = await readdir(folder);
    await writeAll(fresh, files);
    await mkdir(old);
    for (const name of before) await move(join(folder, name), join(old, name));
    for (const name of await readdir(fresh)) await move(join(fresh, name), join(folder, name));
  } catch (error) {
    for (const step of undo) await step();
    await removeLeftover(fresh);
    await removeLeftover(old);
    throw error;
  }
  await removeLeftover(fresh);
  await removeLeftover(old);
}

/** What an in-place run leaves behind if it is killed. */
const LEFTOVER = /^\.fluxion-(?:new|old)-[0-9a-f]{8}\//;

/** That something cannot be deleted makes neither a success a failure nor a failure another one. */
async function removeLeftover(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

/** From the inside out, up to the outermost folder that this run made; a folder that got files meanwhile stays. */
async function removeEmptyFolders(inner: string, outermost: string): Promise<void> {
  for (let folder = inner; isBelow(folder, outermost); folder = dirname(folder)) {
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}
