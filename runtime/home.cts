/**
 * Reads:   fluxion.json beside it, and the original files of the app.
 * Gives:   the app, running as `node app.js` would run it: only the text that Node evaluates for its modules is the
 *          emitted one. Names, folders, packages, `require.main`, `import.meta`, `process.argv` are the original's.
 * Reports: on standard error, with exit code 2, before anything runs: originals that are not what was compiled.
 *
 * A copy of this file goes into each output folder, so it needs nothing but Node (20.19 and later).
 *
 * The emitted modules ask the registry at `globalThis[Symbol.for('fluxion.loop')]` what happens at a cut. A runtime sets
 * it before the app is started; without one everything continues in place.
 */
import crypto = require('node:crypto');
import fs = require('node:fs');
import Module = require('node:module');
import path = require('node:path');
import process = require('node:process');
import url = require('node:url');
import vm = require('node:vm');

/** What emitted modules know of the loop that they run on; docs/ARCHITECTURE.md says more. */
interface Loop {
  /** `make`, called with the variables of the message, gives the code that fluxion `id` runs. */
  define(id: string, make: Make): void;
  /** What is to be called back in place of `closure`; `vars` gives the message's variables as they are by then. */
  post(id: string, closure: Code, vars: () => unknown[]): Code;
  /** True if the rest of an async function is to run on another loop; it is then sent there, and its result awaited. */
  away(id: string): boolean;
  send(id: string, vars: unknown[]): unknown;
}

type Code = (...args: unknown[]) => unknown;
type Make = (...vars: unknown[]) => Code;

interface HomeEntry {
  readonly file: string;
  readonly source: string;
  readonly hash: string;
  readonly kind: 'commonjs' | 'module';
  readonly cuts: readonly string[];
}

interface Manifest {
  readonly entry: string;
  readonly home: { readonly [id: string]: HomeEntry };
}

interface Emitted {
  /** Absolute: the original's place, under which the emitted text runs. */
  readonly original: string;
  readonly text: string;
  readonly kind: 'commonjs' | 'module';
  /** False: there is no such file, only this text. */
  readonly isOnDisk: boolean;
}

/** More than there ever are while Node loads its main module. */
const MOST_FRAMES = 10_000;

const here = fs.realpathSync(__dirname);
const bottomFrames = readBottomFrames();

/** `starter` is the file that Node was given. */
function start(starter: string): void {
  const manifest: Manifest = JSON.parse(fs.readFileSync(path.join(here, 'fluxion.json'), 'utf8'));
  checkOriginals(manifest, here);
  const entry = manifest.home[manifest.entry];
  if (entry === undefined) throw new Error(`fluxion.json does not list ${manifest.entry}`);
  const original = path.resolve(here, entry.source);
  setHomeLoop();
  replaceTexts(readEmitted(manifest));
  const main = process.mainModule;
  forgetStarter(starter, original);
  runMain(main);
}

/** For whoever has set a registry and knows the texts: what `process.argv` names is run as if Node had been given it. */
function launch(entry: Launch): void {
  replaceTexts(entry.emitted);
  const main = process.mainModule;
  forget(entry.ownFiles);
  runMain(main, entry.emitted.get(process.argv[1] ?? '')?.isOnDisk === false);
}

interface Launch {
  readonly emitted: ReadonlyMap<string, Emitted>;
  /** Modules that were loaded before the app and are none of its business. */
  readonly ownFiles: readonly string[];
}

// --- the originals --------------------------------------------------------------------------------------------------

/** `folder`: where fluxion.json lies. */
function checkOriginals({ entry, home }: Manifest, folder: string): void {
  const shown = (fromThere: string): string => path.relative(process.cwd(), path.resolve(folder, fromThere)) || '.';
  const wrong: string[] = [];
  for (const { source, hash } of Object.values(home)) {
    const text = readText(path.resolve(folder, source));
    if (text === null) wrong.push(`  missing: ${shown(source)}`);
    else if (crypto.createHash('sha256').update(text).digest('hex') !== hash) wrong.push(`  changed: ${shown(source)}`);
  }
  if (wrong.length === 0) return;
  const again = `fluxion compile ${shown(home[entry]?.source ?? entry)} -o ${shown('.')}`;
  const text = `The app is not what was compiled to ${shown('.')}; nothing of it has been run.\n${wrong.join('\n')}\n`;
  fs.writeSync(2, `${text}Compile it again: ${again}\n`);
  process.exit(2);
}

/** As Node reads source files: a byte order mark is no part of the text. */
function readText(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch {
    return null;
  }
}

function readEmitted({ home }: Manifest): ReadonlyMap<string, Emitted> {
  const emitted = new Map<string, Emitted>();
  for (const { file, source, kind, cuts } of Object.values(home)) {
    // Node reads the original itself where nothing differs: what it says of a file (its own source map) stays true.
    if (cuts.length === 0) continue;
    const original = path.resolve(here, source);
    emitted.set(original, { original, kind, isOnDisk: true, text: withMap(path.join(here, file), original) });
  }
  return emitted;
}

/** Node looks for the map from where the text claims to be. */
function withMap(file: string, original: string): string {
  return mapFrom(fs.readFileSync(file, 'utf8'), file, original);
}

function mapFrom(text: string, file: string, original: string): string {
  const fromOriginal = path.relative(path.dirname(original), `${file}.map`).split(path.sep);
  const mapUrl = fromOriginal.map(encodeURIComponent).join('/');
  const end = text.lastIndexOf('\n//# sourceMappingURL=');
  // Without a cut in it there is none.
  if (end === -1 || !/^.*\.map\s*$/.test(text.slice(end + 1))) return text;
  return `${text.slice(0, end)}\n//# sourceMappingURL=${mapUrl}\n`;
}

// --- the registry ---------------------------------------------------------------------------------------------------

function setHomeLoop(): void {
  const key = Symbol.for('fluxion.loop');
  if (Reflect.has(globalThis, key)) return;
  const factories = new Map<string, Make>();
  const loop: Loop = {
    define: (id, make) => void factories.set(id, make),
    post: (_id, closure) => closure,
    away: () => false,
    send: (id) => {
      throw new Error(`no other loop runs ${id}`);
    },
  };
  // Not enumerable: the app's globals look as they always did.
  Object.defineProperty(globalThis, key, { value: loop, configurable: true, writable: true });
}

// --- what Node evaluates --------------------------------------------------------------------------------------------

function replaceTexts(emitted: ReadonlyMap<string, Emitted>): void {
  if (emitted.size === 0) return;
  const absent = new Map([...emitted].filter(([, { isOnDisk }]) => !isOnDisk));
  if (absent.size > 0) provide(absent);
  if (hasSyncHooks(Module)) {
    const texts = new Map([...emitted].map(([file, each]) => [url.pathToFileURL(file).href, each.text]));
    const read: Load = (name, context, next) => {
      if (name.startsWith('node:')) {
        beforeBuiltins.get(name)?.();
        return next(name, context);
      }
      isReading = true;
      try {
        return load(texts, name, next(name, context));
      } finally {
        isReading = false;
      }
    };
    Module.registerHooks({ load: read });
    return;
  }
  replaceCommonJs(emitted);
  if ([...emitted.values()].some(({ kind }) => kind === 'module')) replaceEsModules(emitted);
}

/** CommonJS that is on no disk: found and read in place of files. */
function provide(absent: ReadonlyMap<string, Emitted>): void {
  const find: unknown = Reflect.get(Module, '_findPath');
  const extensions: unknown = Reflect.get(Module, '_extensions');
  const read: unknown = typeof extensions === 'object' && extensions !== null ? Reflect.get(extensions, '.js') : null;
  if (
    typeof find !== 'function' ||
    typeof read !== 'function' ||
    typeof extensions !== 'object' ||
    extensions === null
  ) {
    throw new Error('this version of Node has another module loader');
  }
  Reflect.set(Module, '_findPath', (request: string, folders: readonly string[] | null, isMain: boolean): unknown => {
    const bases = path.isAbsolute(request) ? [request] : (folders ?? []).map((folder) => path.resolve(folder, request));
    const candidates = bases.flatMap((base) => [base, `${base}.js`, path.join(base, 'index.js')]);
    return candidates.find((file) => absent.has(file)) ?? Reflect.apply(find, Module, [request, folders, isMain]);
  });
  Reflect.set(extensions, '.js', (module: object, filename: string): unknown => {
    const compile: unknown = absent.has(filename) ? Reflect.get(module, '_compile') : null;
    if (typeof compile !== 'function') return Reflect.apply(read, extensions, [module, filename]);
    return Reflect.apply(compile, module, [absent.get(filename)?.text, filename]);
  });
}

/** Node 22.15, 23.5 and later. */
interface SyncHooks {
  registerHooks(hooks: { readonly load: Load }): void;
}

interface Loaded {
  readonly source?: unknown;
}

type Load = (name: string, context: unknown, next: (name: string, context: unknown) => Loaded) => Loaded;

function hasSyncHooks(module: object): module is SyncHooks {
  return 'registerHooks' in module && typeof module.registerHooks === 'function';
}

/** A module may be imported several times, under names that differ behind a question mark. */
function load(texts: ReadonlyMap<string, string>, name: string, loaded: Loaded): Loaded {
  // CommonJS that is imported has no text yet: it is then required, and comes by here again.
  if (loaded.source == null || !name.startsWith('file:')) return loaded;
  const source = texts.get(name) ?? (/[?#%]/.test(name) ? texts.get(plainName(name)) : undefined);
  return source === undefined ? loaded : { ...loaded, source };
}

const beforeBuiltins = new Map<string, () => void>();

/** `tell` is called before anybody gets this module of Node's by its name, whoever asks; false where that cannot be known. */
function beforeBuiltin(emitted: ReadonlyMap<string, Emitted>, name: `node:${string}`, tell: () => void): boolean {
  if (emitted.size === 0 || !hasSyncHooks(Module)) return false;
  beforeBuiltins.set(name, tell);
  return true;
}

/** There are several ways to write a path as a URL. */
function plainName(name: string): string {
  return url.pathToFileURL(url.fileURLToPath(name.replace(/[?#].*$/s, ''))).href;
}

/** Node reads the text of a module at this moment. */
let isReading = false;

function readsModule(): boolean {
  return isReading;
}

/**
 * For versions without hooks. Node calls `module._compile(text, filename, format)` on each module that it has read.
 * Here the method is looked up through a getter, which gives it with the first arguments already bound. Unlike a
 * function around it, a bound function leaves no frame in stack traces.
 */
function replaceCommonJs(emitted: ReadonlyMap<string, Emitted>): void {
  const prototype: object = Module.prototype;
  const cache = moduleCache();
  const compiled = new WeakSet<object>();
  let compile: unknown = Reflect.get(prototype, '_compile');
  Object.defineProperty(prototype, '_compile', {
    configurable: true,
    enumerable: true,
    get(this: object) {
      const filename: unknown = Reflect.get(this, 'filename');
      if (typeof filename !== 'string' || typeof compile !== 'function') return compile;
      const found = emitted.get(filename);
      // Whoever compiles something else under the name of a module of the app gets what he asked for.
      if (found === undefined || Reflect.get(cache, filename) !== this || compiled.has(this)) return compile;
      compiled.add(this);
      return compile.bind(this, found.text, filename, formatOf(found, compile.length));
    },
    set(this: object, value: unknown) {
      if (this === prototype) compile = value;
      else Object.defineProperty(this, '_compile', { value, writable: true, enumerable: true, configurable: true });
    },
  });
}

/** What `require.cache` is. */
function moduleCache(): object {
  const cache: unknown = Reflect.get(Module, '_cache');
  if (typeof cache !== 'object' || cache === null) throw new Error('this version of Node has another module loader');
  return cache;
}

/** What Node would pass: what the extension or package.json says, and nothing where neither does. */
function formatOf({ original, kind }: Emitted, parameters: number): string | boolean | undefined {
  // Early versions 22 ask whether it is an ES module instead.
  if (parameters < 3) return kind === 'module';
  const extension = path.extname(original);
  if (extension === '.cjs') return 'commonjs';
  if (extension === '.mjs') return 'module';
  return extension === '.js' ? packageType(path.dirname(original)) : undefined;
}

const packageTypes = new Map<string, string | undefined>();

function packageType(folder: string): string | undefined {
  if (!packageTypes.has(folder)) packageTypes.set(folder, readPackageType(folder));
  return packageTypes.get(folder);
}

function readPackageType(folder: string): string | undefined {
  for (let at = folder; path.basename(at) !== 'node_modules'; at = path.dirname(at)) {
    const text = readText(path.join(at, 'package.json'));
    if (text !== null) {
      const { type }: { type?: unknown } = JSON.parse(text);
      return type === 'module' || type === 'commonjs' ? type : undefined;
    }
    if (path.dirname(at) === at) return undefined;
  }
  return undefined;
}

function replaceEsModules(emitted: ReadonlyMap<string, Emitted>): void {
  const texts = new Map<string, string>();
  for (const { original, text, kind } of emitted.values()) {
    if (kind === 'module') texts.set(url.pathToFileURL(original).href, text);
  }
  Module.register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: texts });
}

/** Older versions load ES modules on a thread of their own as soon as somebody wants to have a say in it. */
const HOOKS = `
let texts;
export function initialize(given) { texts = given; }
export async function load(name, context, next) {
  const source = texts.get(name.replace(/[?#].*$/s, ''));
  return source === undefined ? next(name, context) : { format: 'module', source, shortCircuit: true };
}
`;

// --- as if Node had been given the original ----------------------------------------------------------------------------

function forget(files: readonly string[]): void {
  forgetFiles(files);
  Reflect.deleteProperty(process, 'mainModule');
}

function forgetFiles(files: readonly string[]): void {
  for (const file of [...files, __filename]) Reflect.deleteProperty(moduleCache(), file);
}

/** The file that Node takes for its entry; null where there is none. */
function findMain(wanted: string): string | null {
  const find: unknown = Reflect.get(Module, '_findPath');
  const found: unknown = typeof find === 'function' ? Reflect.apply(find, Module, [wanted, null, true]) : false;
  return typeof found === 'string' ? fs.realpathSync(found) : null;
}

function forgetStarter(starter: string, original: string): void {
  forget([fs.realpathSync(starter)]);
  process.argv[1] = asGiven(process.argv[1] ?? starter, starter, original);
}

/** Who starts `out/app` would start `app`. */
function asGiven(given: string, starter: string, original: string): string {
  const extension = path.extname(starter);
  const left = extension !== '' && path.basename(given) === path.basename(starter, extension);
  return left ? original.slice(0, -extension.length) : original;
}

/**
 * The same function as `node app.js` ends up in, so that it decides what the entry is and what happens to its errors.
 *
 * Node calls it when the starter has been evaluated and is marked as loaded, and in the name of the place that called it
 * for the starter: nothing of ours is on the stack while a CommonJS entry runs. Below it are still the frames in which
 * Node loaded the starter, which short stack traces of start-up end with; they are taken out of errors that nobody catches.
 */
function runMain(starter: object | undefined, isAbsent = false): void {
  tidyFatalErrors();
  const run = isAbsent ? loadAbsent : fromBottom();
  if (starter === undefined || Reflect.get(starter, 'loaded') !== false) return run();
  Object.defineProperty(starter, 'loaded', { configurable: true, enumerable: true, set: run });
}

/** Node asks the disk for the real path of its main module. */
function loadAbsent(): void {
  const load: unknown = Reflect.get(Module, '_load');
  if (typeof load === 'function') Reflect.apply(load, Module, [process.argv[1], null, true]);
}

/** Bound functions leave no frames. */
function fromBottom(): () => void {
  const place = /^ +at (node:internal\/main\/\w+):(\d+):(\d+)$/.exec(
    bottomFrames.length === 1 ? (bottomFrames[0] ?? '') : '',
  );
  if (place === null) return () => Module.runMain();
  const [, filename = '', line, column] = place;
  const code = 'Module.runMain()';
  const columnOffset = Number(column) - code.indexOf('runMain') - 1;
  const run = vm.compileFunction(code, ['Module'], { filename, lineOffset: Number(line) - 1, columnOffset });
  return run.bind(undefined, Module) as () => void;
}

/** Node looks the method up when it has an error to tell of; a listener the app would see. */
function tidyFatalErrors(): void {
  const fatal: unknown = Reflect.get(process, '_fatalException');
  if (typeof fatal !== 'function') return;
  const tidy = (error: unknown, isFromPromise: unknown): unknown => {
    hideStarter(error);
    return Reflect.apply(fatal, process, [error, isFromPromise]);
  };
  // As Node's own has.
  Object.defineProperty(tidy, 'name', { value: fatal.name });
  Reflect.set(process, '_fatalException', tidy);
  setImmediate(() => {
    if (Reflect.get(process, '_fatalException') === tidy) Reflect.set(process, '_fatalException', fatal);
  }).unref();
}

function hideStarter(error: unknown): void {
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    hideFrames(at);
  }
}

/** Whatever stands below the place where Node begins has loaded the starter. */
function hideFrames(error: Error): void {
  const [bottom] = bottomFrames;
  if (bottom === undefined) return;
  const lines = String(error.stack).split('\n');
  const end = lines.indexOf(bottom);
  // Not an assignment: that would throw where the error is frozen.
  if (end !== -1 && end < lines.length - 1) Reflect.set(error, 'stack', lines.slice(0, end + 1).join('\n'));
}

/** What Node itself had on the stack when it began to run its main module. */
function readBottomFrames(): string[] {
  const limit = Error.stackTraceLimit;
  // Not without a limit: with --trace-uncaught, Node 26 dies of that.
  Error.stackTraceLimit = MOST_FRAMES;
  const lines = (new Error().stack ?? '').split('\n');
  Error.stackTraceLimit = limit;
  return lines.slice(lines.findLastIndex((line) => line.includes('[as runMain]')) + 1);
}

export = {
  start,
  launch,
  replaceTexts,
  readsModule,
  beforeBuiltin,
  mapFrom,
  checkOriginals,
  forgetFiles,
  findMain,
};
