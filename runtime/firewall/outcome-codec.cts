/**
 * Reads:   what a call of Node's core gave or threw.
 * Gives:   the same as plain data (`encode`), and a copy of the original made from it (`decode`).
 * Throws:  `NotData` for what is more than data: streams, handles, functions.
 */
import buffer = require('node:buffer');
import fs = require('node:fs');
import util = require('node:util');

import type { Encoded, StatsType } from './startup-record.cjs';

class NotData extends Error {}

const { Buffer } = buffer;
/** Taken now: this module is loaded before anybody replaces anything. */
const { Stats, Dirent, statSync, statfsSync } = fs;

/** What a directory entry is, in the order of the constants that its constructor takes. */
const direntKinds = [
  ['isFile', 'UV_DIRENT_FILE'],
  ['isDirectory', 'UV_DIRENT_DIR'],
  ['isSymbolicLink', 'UV_DIRENT_LINK'],
  ['isFIFO', 'UV_DIRENT_FIFO'],
  ['isSocket', 'UV_DIRENT_SOCKET'],
  ['isCharacterDevice', 'UV_DIRENT_CHAR'],
  ['isBlockDevice', 'UV_DIRENT_BLOCK'],
] as const;

/**
 * `count` is told how many bytes are kept. An error's stack is made when somebody asks for it, and from then on Node
 * does not know any more where the error came from; what nobody catches would be shown without its line.
 */
function encode(value: unknown, count: (bytes: number) => void, stacks: 'stack' | 'no stack' = 'stack'): Encoded {
  // Objects that occur twice occur twice in the copy too: a structured clone keeps that.
  const done = new Map<object, Encoded>();
  return visit(value);

  function visit(at: unknown): Encoded {
    if (typeof at === 'string') count(at.length * 2);
    if (at === null || at === undefined || typeof at === 'string' || typeof at === 'number') return at;
    if (typeof at === 'boolean' || typeof at === 'bigint') return at;
    if (typeof at !== 'object' || util.types.isProxy(at)) throw new NotData(`a ${typeof at}`);
    const known = done.get(at);
    if (known !== undefined) return known;
    count(16);
    return visitObject(at);
  }

  function keep<T extends Encoded>(of: object, encoded: T): T {
    done.set(of, encoded);
    return encoded;
  }

  function visitObject(at: object): Encoded {
    if (Array.isArray(at)) {
      const items: Encoded[] = [];
      const encoded = keep(at, { is: 'array', items });
      for (const item of at) items.push(visit(item));
      return encoded;
    }
    if (Buffer.isBuffer(at)) {
      count(at.length);
      return keep(at, { is: 'buffer', bytes: Uint8Array.from(at) });
    }
    if (at instanceof Date) return keep(at, { is: 'date', time: at.getTime() });
    if (isWhole(at)) return keep(at, { is: 'whole', value: wholeCopy(at, count) });
    if (util.types.isNativeError(at)) return visitError(at);
    if (at instanceof Dirent)
      return keep(at, { is: 'dirent', name: visit(at.name), type: typeOf(at), folder: folderOf(at) });
    if (at instanceof Map) {
      const entries: [Encoded, Encoded][] = [];
      const encoded = keep(at, { is: 'map', entries });
      for (const [key, item] of at) entries.push([visit(key), visit(item)]);
      return encoded;
    }
    if (at instanceof Set) {
      const items: Encoded[] = [];
      const encoded = keep(at, { is: 'set', items });
      for (const item of at) items.push(visit(item));
      return encoded;
    }
    const type = statsTypeOf(at);
    const entries: [string, Encoded][] = [];
    if (type !== null) return visitEntries(at, keep(at, { is: 'stats', type, entries }), entries);
    const prototype: unknown = Object.getPrototypeOf(at);
    if (prototype !== null && prototype !== Object.prototype)
      throw new NotData(`an object of class ${at.constructor?.name}`);
    return visitEntries(at, keep(at, { is: 'object', bare: prototype === null, entries }), entries);
  }

  function visitError(at: Error): Encoded {
    const entries: [string, Encoded][] = [];
    const encoded = keep(at, { is: 'error', type: at.constructor.name, entries });
    const { name } = at;
    if (name !== at.constructor.name) entries.push(['name', name]);
    // Read here and not by descriptor: newer versions keep the stack behind an accessor.
    const stack = stacks === 'stack' ? at.stack : `${name}: ${at.message}`;
    entries.push(['message', at.message], ['stack', typeof stack === 'string' ? stack : '']);
    for (const key of Object.keys(at)) {
      if (key !== 'message' && key !== 'stack') entries.push([key, visit(Reflect.get(at, key))]);
    }
    return encoded;
  }

  function visitEntries(at: object, encoded: Encoded, entries: [string, Encoded][]): Encoded {
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (!('value' in descriptor)) continue;
      count(key.length * 2);
      entries.push([key, visit(descriptor.value)]);
    }
    return encoded;
  }
}

function isWhole(at: object): boolean {
  return (
    ArrayBuffer.isView(at) || at instanceof ArrayBuffer || util.types.isKeyObject(at) || util.types.isCryptoKey(at)
  );
}

function wholeCopy(at: object, count: (bytes: number) => void): unknown {
  if (!ArrayBuffer.isView(at) && !(at instanceof ArrayBuffer)) return at;
  count(at.byteLength);
  return structuredClone(at);
}

function statsTypeOf(at: object): StatsType | null {
  if (at instanceof Stats) return 'Stats';
  const name = at.constructor?.name;
  return name === 'BigIntStats' || name === 'StatFs' ? name : null;
}

function typeOf(entry: import('node:fs').Dirent): number {
  const found = direntKinds.find(([kind]) => entry[kind]());
  const type: unknown = Reflect.get(fs.constants, found?.[1] ?? 'UV_DIRENT_UNKNOWN');
  return typeof type === 'number' ? type : 0;
}

function folderOf(entry: import('node:fs').Dirent): string {
  const folder: unknown = Reflect.get(entry, 'parentPath') ?? Reflect.get(entry, 'path');
  return typeof folder === 'string' ? folder : '';
}

// --- and back -------------------------------------------------------------------------------------------------------

/** `args` are the arguments of the call that is answered. */
function decode(encoded: Encoded, args: readonly unknown[] = []): unknown {
  const done = new Map<object, unknown>();
  return visit(encoded);

  function visit(at: Encoded): unknown {
    if (typeof at !== 'object' || at === null) return at;
    if (done.has(at)) return done.get(at);
    const made = make(at);
    done.set(at, made);
    fill(at, made);
    return made;
  }

  function make(at: Exclude<Encoded, string | number | boolean | bigint | null | undefined>): unknown {
    switch (at.is) {
      case 'buffer':
        return Buffer.from(at.bytes);
      case 'array':
        return [];
      case 'object':
        return at.bare ? Object.create(null) : {};
      case 'map':
        return new Map();
      case 'set':
        return new Set();
      case 'date':
        return new Date(at.time);
      case 'error':
        return makeError(at.type);
      case 'stats':
        return Object.create(statsPrototype(at.type));
      case 'dirent':
        return Reflect.construct(Dirent, [visit(at.name), at.type, at.folder]);
      case 'whole':
        return ArrayBuffer.isView(at.value) || at.value instanceof ArrayBuffer ? structuredClone(at.value) : at.value;
      case 'argument':
        return args[at.index];
    }
  }

  function fill(at: Exclude<Encoded, string | number | boolean | bigint | null | undefined>, made: unknown): void {
    if (at.is === 'array' && Array.isArray(made)) for (const item of at.items) made.push(visit(item));
    if (at.is === 'map' && made instanceof Map) for (const [key, item] of at.entries) made.set(visit(key), visit(item));
    if (at.is === 'set' && made instanceof Set) for (const item of at.items) made.add(visit(item));
    if (typeof made !== 'object' || made === null) return;
    if (at.is === 'object' || at.is === 'stats')
      for (const [key, item] of at.entries) define(made, key, visit(item), true);
    if (at.is !== 'error') return;
    const hidden = new Set(['name', 'message', 'stack']);
    for (const [key, item] of at.entries) define(made, key, visit(item), !hidden.has(key));
  }
}

function define(holder: object, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(holder, key, { value, enumerable, configurable: true, writable: true });
}

const errorTypes: ReadonlyMap<string, ErrorConstructor> = new Map(
  [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map((type) => [type.name, type]),
);

function makeError(type: string): Error {
  return new (errorTypes.get(type) ?? Error)();
}

function statsPrototype(type: StatsType): object {
  if (type === 'Stats') return Stats.prototype;
  return Object.getPrototypeOf(type === 'BigIntStats' ? statSync('.', { bigint: true }) : statfsSync('.'));
}

export = { encode, decode, NotData };
