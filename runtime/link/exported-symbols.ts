/**
 * Reads: what the modules of this loop export.
 * Gives: names for symbols that one of them exports, by which the other loop finds its own; registered symbols have names anyway.
 */
import Module from 'node:module';

const require = Module.createRequire(import.meta.url);

export class ExportedSymbols {
  #names: ReadonlyMap<symbol, string> = new Map();
  #symbols: ReadonlyMap<string, symbol> = new Map();
  #modules = 0;

  nameOf(symbol: symbol): string | undefined {
    const key = Symbol.keyFor(symbol);
    if (key !== undefined) return `for ${key}`;
    this.#look();
    return this.#names.get(symbol);
  }

  symbolOf(name: string): symbol | undefined {
    if (name.startsWith('for ')) return Symbol.for(name.slice('for '.length));
    this.#look();
    return this.#symbols.get(name);
  }

  #look(): void {
    const files = Object.keys(require.cache);
    if (files.length === this.#modules) return;
    this.#modules = files.length;
    const symbols = new Map<string, symbol>();
    for (const file of files) {
      const exported: unknown = require.cache[file]?.exports;
      if (typeof exported !== 'object' || exported === null || Object.keys(exported).length > MOST) continue;
      for (const key of Object.keys(exported)) {
        // Accessors are not asked: some load a module.
        const value: unknown = Object.getOwnPropertyDescriptor(exported, key)?.value;
        if (typeof value === 'symbol') symbols.set(`of ${file} ${key}`, value);
      }
    }
    this.#symbols = symbols;
    this.#names = new Map([...symbols].map(([name, symbol]) => [symbol, name]));
  }
}

const MOST = 500;
