/**
 * The types of JavaScript's own values, and what a method of theirs does when only its name is known.
 *
 * A regular expression remembers where it stopped if its flags have `g` or `y`; then `test` and `exec` change it. A
 * literal without these flags is a `RegExp`, one with `y` a `StickyRegExp`, everything else a `StatefulRegExp`.
 * `call`, `apply` and `bind` are missing: they do what their receiver does.
 */
import type { Members } from './build.js';
import {
  calls,
  chained,
  constants,
  listed,
  mutating,
  post,
  promising,
  pure,
  start,
  sync,
  syncCallback,
  values,
} from './build.js';
import { mergeCalls } from './merge-calls.js';
import type { Call, PackageModel, TypeModel } from './types.js';

const ELEMENT = ['contents', 'fresh', 'this'] as const;
const FOLDED = 'argument 1 | result 0 | contents without 1';
const folding: Call = {
  ruptures: [sync(0, [FOLDED, 'contents', 'fresh', 'this'])],
  returns: FOLDED,
};

const ITERATED: Members = pure('entries keys values @@iterator', 'iterator');

/** Whoever takes something from it leaves less for the next. */
const ITERATOR: Members = {
  ...mutating('next return throw', { keeps: [0], returns: 'step' }),
  ...mutating('take drop @@iterator', { returns: 'this' }),
  ...mutating('toArray', { returns: 'copy' }),
  ...syncCallback('forEach every some', ELEMENT, { mutates: ['this'] }),
  ...syncCallback('find', ELEMENT, { mutates: ['this'], returns: 'contents' }),
  ...syncCallback('filter', ELEMENT, { mutates: ['this'], returns: 'copy' }),
  ...syncCallback('map flatMap', ELEMENT, { mutates: ['this'], returns: 'results 0' }),
  reduce: { call: { ...folding, mutates: ['this'] } },
};

const ARRAY: Members = {
  ...mutating('push unshift', { keeps: [-1] }),
  ...mutating('pop shift', { returns: 'contents' }),
  ...mutating('splice', { keeps: [-1], returns: 'copy' }),
  ...chained('fill', { keeps: [0] }),
  ...chained('copyWithin reverse', { keeps: [] }),
  sort: { call: { ruptures: [sync(0, ['contents', 'contents'])], returns: 'this', mutates: ['this'] } },
  ...pure('at', 'contents'),
  ...pure('slice flat toReversed', 'copy'),
  ...ITERATED,
  ...pure('concat toSpliced with', 'copy | copy -1'),
  toSorted: { call: { ruptures: [sync(0, ['contents', 'contents'])], returns: 'copy' } },
  ...pure('includes indexOf lastIndexOf join toString toLocaleString'),
  ...syncCallback('forEach every some findIndex findLastIndex', ELEMENT),
  ...syncCallback('filter', ELEMENT, { returns: 'copy' }),
  ...syncCallback('find findLast', ELEMENT, { returns: 'contents' }),
  ...syncCallback('map flatMap', ELEMENT, { returns: 'results 0' }),
  reduce: { call: folding },
  reduceRight: { call: folding },
  ...constants('length'),
};

const STRING: Members = {
  ...pure(`at charAt charCodeAt codePointAt concat endsWith includes indexOf isWellFormed lastIndexOf localeCompare match
    normalize padEnd padStart repeat search slice startsWith substr substring toLocaleLowerCase
    toLocaleUpperCase toLowerCase toString toUpperCase toWellFormed trim trimEnd trimLeft trimRight trimStart valueOf
    anchor link`),
  ...pure('split', 'Array'),
  ...pure('matchAll @@iterator', 'Iterator'),
  replace: { call: { ruptures: [sync(1, ['fresh', 'fresh', 'fresh', 'fresh', 'fresh', 'fresh'])], returns: 'fresh' } },
  replaceAll: {
    call: { ruptures: [sync(1, ['fresh', 'fresh', 'fresh', 'fresh', 'fresh', 'fresh'])], returns: 'fresh' },
  },
  ...constants('length'),
};

const MAP: Members = {
  ...pure('get', 'contents'),
  ...pure('has'),
  ...chained('set'),
  ...mutating('delete clear'),
  ...ITERATED,
  ...syncCallback('forEach', ['contents', 'contents', 'this']),
  ...constants('size'),
};

const SET: Members = {
  ...pure('has isDisjointFrom isSubsetOf isSupersetOf'),
  ...chained('add'),
  ...mutating('delete clear'),
  ...ITERATED,
  ...pure('intersection difference', 'copy'),
  ...pure('union symmetricDifference', 'copy | copy 0'),
  ...syncCallback('forEach', ['contents', 'contents', 'this']),
  ...constants('size'),
};

const DATE: Members = {
  ...pure(`getDate getDay getFullYear getHours getMilliseconds getMinutes getMonth getSeconds getTime getTimezoneOffset
    getUTCDate getUTCDay getUTCFullYear getUTCHours getUTCMilliseconds getUTCMinutes getUTCMonth getUTCSeconds getYear
    toDateString toGMTString toISOString toJSON toLocaleDateString toLocaleString toLocaleTimeString toString
    toTimeString toUTCString valueOf`),
  ...mutating(`setDate setFullYear setHours setMilliseconds setMinutes setMonth setSeconds setTime setUTCDate
    setUTCFullYear setUTCHours setUTCMilliseconds setUTCMinutes setUTCMonth setUTCSeconds setYear`),
};

const REGEXP: Members = {
  ...pure('test exec toString'),
  ...constants('source flags global ignoreCase multiline sticky'),
};

const PROMISE: Members = {
  ...calls('then', {
    // What a promise is rejected with is not what it holds: that is known by what is thrown.
    ruptures: [post(0, ['contents']), post(1, ['fresh'])],
    promise: true,
    returns: 'result 0 | result 1 | contents',
  }),
  catch: { call: { ruptures: [post(0, ['fresh'])], promise: true, returns: 'contents | result 0' } },
  finally: { call: { ruptures: [post(0, [])], promise: true, returns: 'contents' } },
};

const OBJECT: Members = {
  ...pure('hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString'),
  ...pure('valueOf', 'this'),
};

const TYPED_ARRAY: Members = {
  ...pure('at includes indexOf join lastIndexOf toLocaleString toString'),
  ...ITERATED,
  ...pure('slice toReversed with', 'TypedArray'),
  // Another view of the same memory.
  ...pure('subarray', 'this'),
  ...mutating('set'),
  ...chained('fill reverse copyWithin', { keeps: [] }),
  sort: { call: { ruptures: [sync(0, ['fresh', 'fresh'])], returns: 'this', mutates: ['this'] } },
  toSorted: { call: { ruptures: [sync(0, ['fresh', 'fresh'])], returns: 'TypedArray' } },
  ...syncCallback('forEach every some find findIndex findLast findLastIndex', ['fresh', 'fresh', 'this']),
  ...syncCallback('filter map', ['fresh', 'fresh', 'this'], { returns: 'TypedArray' }),
  ...syncCallback('reduce reduceRight', ['argument 1 | result 0', 'fresh', 'fresh', 'this'], {
    returns: 'argument 1 | result 0',
  }),
  ...constants('length byteLength byteOffset'),
  buffer: { is: 'this' },
};

const WIDTHS =
  'Int8 Int16LE Int16BE Int32LE Int32BE BigInt64LE BigInt64BE IntLE IntBE FloatLE FloatBE DoubleLE DoubleBE';
const UNSIGNED = 'UInt8 UInt16LE UInt16BE UInt32LE UInt32BE UIntLE UIntBE BigUInt64LE BigUInt64BE';
const NUMBERS = listed(`${WIDTHS} ${UNSIGNED} ${UNSIGNED.replaceAll('UInt', 'Uint')}`);
const READS = pure(NUMBERS.map((width) => `read${width}`).join(' '));
const WRITES = mutating(NUMBERS.map((width) => `write${width}`).join(' '));

const BUFFER: Members = {
  ...READS,
  ...WRITES,
  ...pure('compare equals toJSON toString toLocaleString inspect'),
  ...pure('slice subarray', 'this'),
  ...mutating('write'),
  ...chained('swap16 swap32 swap64', { keeps: [] }),
  ...calls('copy', { mutates: [0] }),
};

const VIEWS = 'Int8 Uint8 Int16 Uint16 Int32 Uint32 Float32 Float64 BigInt64 BigUint64';
const DATA_VIEW: Members = {
  ...pure(
    listed(VIEWS)
      .map((width) => `get${width}`)
      .join(' '),
  ),
  ...mutating(
    listed(VIEWS)
      .map((width) => `set${width}`)
      .join(' '),
  ),
  ...constants('byteLength byteOffset'),
  buffer: { is: 'this' },
};

const SEARCH_PARAMS: Members = {
  ...mutating('append delete set sort'),
  ...pure('get getAll has toString'),
  ...ITERATED,
  ...syncCallback('forEach', ['fresh', 'fresh', 'this']),
  ...constants('size'),
};

const BODY: Members = {
  ...promising('arrayBuffer blob bytes formData text', { mutates: ['this'] }),
  ...promising('json', { mutates: ['this'], returns: 'data' }),
  ...values('body'),
  ...constants('bodyUsed'),
};

const EVENT_TARGET: Members = {
  addEventListener: {
    call: {
      ruptures: [start(1, ['Event'], { label: 0, thisIsReceiver: true })],
      returns: 'fresh',
      mutates: ['this'],
      keeps: [1],
    },
  },
  ...mutating('removeEventListener'),
  ...mutating('dispatchEvent', { keeps: [0] }),
};

const clonable = (members: Members): TypeModel => ({ extends: 'Object', travels: 'clone', members });
const plain = (members: Members): TypeModel => ({ extends: 'Object', members });

const TYPES = {
  Object: { members: OBJECT },
  Array: clonable(ARRAY),
  String: clonable(STRING),
  Number: clonable(pure('toExponential toFixed toLocaleString toPrecision toString valueOf')),
  Boolean: clonable(pure('toString valueOf')),
  BigInt: clonable(pure('toLocaleString toString valueOf')),
  Symbol: plain({ ...pure('toString valueOf'), ...constants('description') }),
  Function: plain({ ...pure('toString'), ...constants('name length') }),
  Map: clonable(MAP),
  Set: clonable(SET),
  WeakMap: plain({ get: MAP.get!, has: MAP.has!, set: MAP.set!, delete: MAP.delete! }),
  WeakSet: plain({ has: SET.has!, add: SET.add!, delete: SET.delete! }),
  WeakRef: plain(pure('deref', 'contents')),
  FinalizationRegistry: plain(mutating('register unregister', { keeps: [-1] })),
  Date: clonable(DATE),
  RegExp: clonable(REGEXP),
  StatefulRegExp: { extends: 'RegExp', travels: 'clone', members: mutating('test exec') },
  /** What it is given to begins where it stopped: `replace`, `match`. */
  StickyRegExp: { extends: 'StatefulRegExp', travels: 'clone', members: {} },
  Promise: plain(PROMISE),
  PromiseWithResolvers: plain({ promise: { is: 'Promise' }, resolve: { is: 'Resolver' }, reject: { is: 'Resolver' } }),
  /** `resolve` and `reject` of a promise: what waits for the promise runs later. */
  Resolver: { members: {}, call: { returns: 'fresh', mutates: ['this'], keeps: [0] } },
  Error: clonable({ ...pure('toString'), ...constants('name message stack code'), ...values('cause errors') }),
  Iterator: plain(ITERATOR),
  Generator: plain({ ...mutating('next return throw', { keeps: [0], returns: 'contents' }) }),
  TypedArray: clonable(TYPED_ARRAY),
  Buffer: { extends: 'TypedArray', travels: 'clone', members: BUFFER },
  ArrayBuffer: clonable({
    ...pure('slice', 'ArrayBuffer'),
    ...mutating('resize'),
    ...mutating('transfer transferToFixedLength', { returns: 'ArrayBuffer' }),
    ...constants('byteLength maxByteLength resizable detached'),
  }),
  DataView: clonable(DATA_VIEW),
  URL: plain({
    ...pure('toString toJSON'),
    ...values('hash host hostname href origin password pathname port protocol search username'),
    searchParams: { is: 'URLSearchParams' },
  }),
  URLSearchParams: plain(SEARCH_PARAMS),
  TextEncoder: plain({ ...pure('encode'), ...calls('encodeInto', { mutates: [1] }), ...constants('encoding') }),
  TextDecoder: plain({ ...mutating('decode'), ...constants('encoding fatal ignoreBOM') }),
  Formatter: plain(
    pure('compare format formatRange formatRangeToParts formatToParts of resolvedOptions segment select'),
  ),
  Event: plain({
    ...mutating('preventDefault stopPropagation stopImmediatePropagation'),
    ...values('target currentTarget detail'),
    ...constants('type timeStamp defaultPrevented'),
  }),
  EventTarget: { members: EVENT_TARGET, identity: true },
  AbortController: plain({ ...mutating('abort', { keeps: [0] }), signal: { is: 'AbortSignal' } }),
  AbortSignal: {
    extends: 'EventTarget',
    members: { ...pure('throwIfAborted'), ...values('aborted reason onabort') },
  },
  Headers: plain({ ...SEARCH_PARAMS, ...pure('getSetCookie') }),
  FormData: plain({ ...SEARCH_PARAMS, ...mutating('append set', { keeps: [-1] }), ...pure('get getAll', 'contents') }),
  Response: plain({
    ...BODY,
    ...pure('clone', 'Response'),
    headers: { is: 'Headers' },
    ...constants('ok redirected status statusText type url'),
  }),
  Blob: clonable({
    ...promising('arrayBuffer bytes text'),
    ...pure('slice', 'Blob'),
    ...pure('stream'),
    ...constants('size type name lastModified'),
  }),
} satisfies { readonly [name: string]: TypeModel };

export const builtins = { name: 'builtins', module: {}, types: TYPES } satisfies PackageModel;

/**
 * Types whose method names say what kind of value the receiver is. The others have names that streams, bodies and
 * targets of all kinds have as well (`write`, `json`, `abort`), and a name alone proves nothing of those.
 */
const KNOWN_BY_NAME = [
  'Object Array String Number Map Set WeakMap WeakSet WeakRef Date RegExp StatefulRegExp Promise Generator TypedArray',
  'DataView URLSearchParams Error',
].flatMap(listed);

function methodsByName(): ReadonlyMap<string, Call> {
  const found = new Map<string, Call>();
  const add = ([name, member]: [string, { readonly call?: Call }]): void => {
    const earlier = found.get(name);
    if (member.call) found.set(name, earlier ? mergeCalls(earlier, member.call) : member.call);
  };
  const types: { readonly [name: string]: TypeModel } = TYPES;
  for (const name of KNOWN_BY_NAME) Object.entries(types[name]!.members).forEach(add);
  // Names that only a Buffer has; the short ones (`write`, `copy`, `equals`) are left to whoever else has them.
  Object.entries({ ...READS, ...WRITES }).forEach(add);
  return found;
}

/**
 * For a method call on a receiver of unknown type: what it does at worst, over all built-in types that have such a
 * method. One exception: `slice` of a Buffer is a view and not a copy, but a Buffer of unknown type whose slice is then
 * written to is too rare to take every `slice` for a view.
 */
export const byMethodName: ReadonlyMap<string, Call> = methodsByName();
