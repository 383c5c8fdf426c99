/**
 * Reads: modules of packages that this loop has loaded.
 * Gives: names for their symbols, by which the other loop finds its own; registered symbols have names anyway.
 *
 * Known are those that a module exports, and constants beside a function that it exports: `const startTime = Symbol('startTime')`. Those
 * of the app's own modules are known where a handler reaches them (`shared-objects.ts`), as that has been found equal, and nothing changes it.
 */
import { readFileSync } from 'node:fs';
import Module from 'node:module';
import { Reflector } from './reflect.js';

const require = Module.createRequire(import.meta.url);

export class PackageSymbols {
  /** What has been named once keeps its name: nobody else gets it. */
  readonly #names = new Map<symbol, string>();
  readonly #symbols = new Map<string, symbol>();
  readonly #unknown = new WeakSet<WeakKey>();
  #files = 0;
  #searches = 0;

  nameOf(symbol: symbol): string | undefined {
    const key = Symbol.keyFor(symbol);
    if (key !== undefined) return `for ${key}`;
    const known = this.#names.get(symbol);
    if (known !== undefined) return known;
    if (this.#unknown.has(symbol)) return undefined;
    this.#look();
    const name = this.#names.get(symbol) ?? this.#search(symbol);
    if (name === undefined) this.#unknown.add(symbol);
    return name;
  }

  symbolOf(name: string): symbol | undefined {
    if (name.startsWith('for ')) return Symbol.for(name.slice('for '.length));
    this.#look();
    const known = this.#symbols.get(name);
    if (known !== undefined || !name.startsWith(WITHIN)) return known;
    const [file = '', variable = ''] = name.slice(WITHIN.length).split(BETWEEN);
    return this.#constantIn(file, variable, () => true);
  }

  #add(name: string, symbol: symbol): void {
    if (this.#symbols.has(name)) return;
    this.#symbols.set(name, symbol);
    if (!this.#names.has(symbol)) this.#names.set(symbol, name);
  }

  #look(): void {
    const files = Object.keys(require.cache);
    if (files.length === this.#files) return;
    this.#files = files.length;
    for (const file of files) {
      if (!OF_PACKAGE.test(file)) continue;
      const exported: unknown = require.cache[file]?.exports;
      for (const [key, value] of ownValues(exported))
        if (typeof value === 'symbol') this.#add(`of ${file}${BETWEEN}${key}`, value);
    }
  }

  /** Which module has it? That is asked seldom: a symbol that is made for each request is nobody's. */
  #search(symbol: symbol): string | undefined {
    const { description } = symbol;
    if (description === undefined || description === '' || this.#searches >= MOST_SEARCHES) return undefined;
    this.#searches++;
    for (const file of Object.keys(require.cache)) {
      if (!OF_PACKAGE.test(file)) continue;
      for (const variable of constantsOf(file, description))
        if (this.#constantIn(file, variable, (value) => value === symbol) !== undefined)
          return `${WITHIN}${file}${BETWEEN}${variable}`;
    }
    return undefined;
  }

  #constantIn(file: string, variable: string, isMeant: (value: symbol) => boolean): symbol | undefined {
    const fn = functionOf(require.cache[file]?.exports);
    if (fn === null || !isConstant(textOf(file), variable)) return undefined;
    const reflector = new Reflector();
    const value = reflector.variables(fn, (name) => name === variable).get(variable);
    reflector.close();
    if (typeof value !== 'symbol' || !isMeant(value)) return undefined;
    this.#add(`${WITHIN}${file}${BETWEEN}${variable}`, value);
    return value;
  }
}

const OF_PACKAGE = /[\\/]node_modules[\\/]/;
const WITHIN = 'in ';
const BETWEEN = '\n';
const MOST_PROPERTIES = 500;
const MOST_SEARCHES = 50;

/** Accessors are not asked: some load a module. */
function ownValues(of: unknown): readonly (readonly [key: string, value: unknown])[] {
  if ((typeof of !== 'object' && typeof of !== 'function') || of === null) return [];
  const keys = Object.keys(of);
  if (keys.length > MOST_PROPERTIES) return [];
  return keys.map((key) => [key, Object.getOwnPropertyDescriptor(of, key)?.value]);
}

/** Any function of the module sees the module's constants. */
function functionOf(exported: unknown): object | null {
  if (typeof exported === 'function') return exported;
  const found = ownValues(exported).find(([, value]) => typeof value === 'function')?.[1];
  return typeof found === 'function' ? found : null;
}

function constantsOf(file: string, description: string): readonly string[] {
  const text = textOf(file);
  if (!text.includes(description)) return [];
  return [...text.matchAll(CONSTANT)].flatMap(([, name = '', , said]) => (said === description ? [name] : []));
}

const CONSTANT = /\bconst\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=\s*Symbol\(\s*(['"`])([^'"`\\\n]*)\2\s*\)/gu;

/** The only variable of that name, as far as the text goes, and nothing sets it anew. */
function isConstant(text: string, name: string): boolean {
  const escaped = name.replace(/\$/g, '\\$');
  const declared = text.match(
    new RegExp(`\\b(?:const|let|var|function|class)\\s+${escaped}(?![\\p{ID_Continue}$])`, 'gu'),
  );
  return declared?.length === 1 && [...text.matchAll(CONSTANT)].some(([, found]) => found === name);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
