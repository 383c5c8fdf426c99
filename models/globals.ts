/**
 * What the names mean that every module has without importing them.
 *
 * `eval`, calls of `Function`, `Proxy`, `Atomics`, `SharedArrayBuffer` and `WebAssembly` are left out: what they do is not in
 * the source, or not in what their arguments say.
 */
import type { Members } from './build.js';
import { calls, classes, constants, each, post, promising, pure, sync, values } from './build.js';
import { BLOBS, BUFFER } from './node/buffer.js';
import { webCrypto } from './node/crypto.js';
import { PERFORMANCE } from './node/perf-hooks.js';
import { timerMembers } from './node/timers.js';
import type { Member } from './types.js';

/** What all values of such a type inherit from has their methods: `String.prototype.trim.call(x)`. */
function prototype(type: string): Members {
  return { prototype: { is: type } };
}

const OBJECT: Member = {
  call: { returns: 'argument 0' },
  construct: { returns: 'argument 0' },
  members: {
    ...pure('keys getOwnPropertyNames', 'Array'),
    ...pure('getOwnPropertySymbols hasOwn is isExtensible isFrozen isSealed'),
    ...pure('values entries fromEntries getOwnPropertyDescriptor getOwnPropertyDescriptors', 'copy 0'),
    ...pure('create', 'copy -1'),
    // The analyzer knows what an object inherits from.
    ...pure('getPrototypeOf'),
    ...prototype('Object'),
    ...calls('freeze seal preventExtensions', { mutates: [0], returns: 'argument 0' }),
    ...calls('assign defineProperty defineProperties setPrototypeOf', {
      mutates: [0],
      keeps: [-1],
      returns: 'argument 0',
    }),
    groupBy: { call: { ruptures: [sync(1, ['contents 0', 'fresh'])], returns: 'copy 0' } },
  },
};

const ARRAY: Member = {
  call: { returns: 'Array', keeps: [-1] },
  construct: { returns: 'Array', keeps: [-1] },
  members: {
    ...pure('isArray'),
    ...pure('of', 'copy -1'),
    from: { call: { ruptures: [sync(1, ['contents 0', 'fresh'])], returns: 'copy 0 | results 1' } },
    fromAsync: {
      call: { ruptures: [post(1, ['contents 0', 'fresh'])], promise: true, returns: 'copy 0 | results 1' },
    },
  },
};

const PROMISE: Member = {
  construct: { ruptures: [sync(0, ['Resolver', 'Resolver'])], promise: true, returns: 'unknown' },
  members: {
    ...promising('resolve', { returns: 'argument 0' }),
    ...promising('reject'),
    ...promising('all allSettled', { returns: 'copy 0' }),
    ...promising('race any', { returns: 'contents 0' }),
    try: { call: { ruptures: [sync(0, ['argument 1', 'argument 2'])], promise: true, returns: 'result 0' } },
    withResolvers: { call: { returns: 'PromiseWithResolvers' } },
    ...prototype('Promise'),
  },
};

const MATH: Member = {
  members: {
    ...pure(`abs acos acosh asin asinh atan atan2 atanh cbrt ceil clz32 cos cosh exp expm1 floor fround hypot imul log
      log10 log1p log2 max min pow round sign sin sinh sqrt tan tanh trunc`),
    ...calls('random', { does: ['random'] }),
    ...constants('E LN10 LN2 LOG10E LOG2E PI SQRT1_2 SQRT2'),
  },
};

const REFLECT: Member = {
  members: {
    ...pure('has ownKeys isExtensible'),
    ...pure('get', 'contents 0'),
    ...pure('getPrototypeOf'),
    ...pure('getOwnPropertyDescriptor', 'copy 0'),
    // The fourth argument is in the place of the first, for setters and for where a value is put.
    ...calls('set', { mutates: [0, 3], keeps: [-1] }),
    ...calls('defineProperty deleteProperty setPrototypeOf preventExtensions', { mutates: [0], keeps: [-1] }),
  },
};

const callable = (call: Member['call'], members: Members = {}): Member => ({
  ...(call && { call, construct: call }),
  members,
});

const PRIMITIVES: Members = {
  String: callable({ returns: 'fresh' }, { ...pure('fromCharCode fromCodePoint raw'), ...prototype('String') }),
  Number: callable(
    { returns: 'fresh' },
    {
      ...pure('isFinite isInteger isNaN isSafeInteger parseFloat parseInt'),
      ...constants(
        'EPSILON MAX_SAFE_INTEGER MIN_SAFE_INTEGER MAX_VALUE MIN_VALUE NaN NEGATIVE_INFINITY POSITIVE_INFINITY',
      ),
      ...prototype('Number'),
    },
  ),
  Boolean: callable({ returns: 'fresh' }, prototype('Boolean')),
  BigInt: { call: { returns: 'fresh' }, members: { ...pure('asIntN asUintN'), ...prototype('BigInt') } },
  Symbol: {
    call: { returns: 'fresh' },
    members: {
      ...pure('for keyFor'),
      ...constants(`asyncIterator hasInstance isConcatSpreadable iterator match matchAll replace search species split
        toPrimitive toStringTag unscopables dispose asyncDispose`),
      ...prototype('Symbol'),
    },
  },
  ...constants('NaN Infinity undefined'),
  ...pure(`parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape
    atob btoa`),
  ...pure('structuredClone', 'data'),
};

const ERRORS: Members = each(
  'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError DOMException',
  {
    call: { returns: 'Error', keeps: [-1] },
    construct: { returns: 'Error', keeps: [-1] },
    members: {
      ...calls('captureStackTrace', { mutates: [0], data: true }),
      ...pure('isError'),
      ...values('stackTraceLimit'),
    },
  },
);

const TYPED = each(
  `Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array
  BigInt64Array BigUint64Array`,
  {
    construct: { returns: 'TypedArray', keeps: [0], views: [0] },
    members: {
      from: { call: { ruptures: [sync(1, ['contents 0', 'fresh'])], returns: 'TypedArray' } },
      ...pure('of', 'TypedArray'),
      ...constants('BYTES_PER_ELEMENT'),
    },
  },
);

const COLLECTIONS: Members = {
  ...classes('Set WeakMap WeakSet WeakRef', (name) => name),
  Map: {
    construct: { returns: 'Map', keeps: [0] },
    // What the function gives is a key.
    members: { groupBy: { call: { ruptures: [sync(1, ['contents 0', 'fresh'])], returns: 'copy 0 | results 1' } } },
  },
  ArrayBuffer: { construct: { returns: 'ArrayBuffer' }, members: pure('isView') },
  DataView: { construct: { returns: 'DataView', keeps: [0], views: [0] } },
};

const INTL: Member = {
  members: {
    ...each('Collator DateTimeFormat DisplayNames ListFormat NumberFormat PluralRules RelativeTimeFormat Segmenter', {
      call: { returns: 'Formatter' },
      construct: { returns: 'Formatter' },
      members: pure('supportedLocalesOf'),
    }),
    ...each('Locale', { construct: { returns: 'fresh' } }),
    ...pure('getCanonicalLocales supportedValuesOf'),
  },
};

const WEB: Members = {
  fetch: { call: { promise: true, returns: 'Response', does: ['network'] } },
  ...classes('URLSearchParams Headers FormData Response', (name) => name),
  URL: { construct: { returns: 'URL' }, members: { ...pure('canParse'), ...pure('parse', 'URL') } },
  AbortController: { construct: { returns: 'AbortController' } },
  AbortSignal: {
    members: {
      ...pure('abort', 'AbortSignal'),
      ...calls('timeout', { returns: 'AbortSignal', does: ['timer'] }),
      any: { call: { returns: 'AbortSignal', keeps: [0], mutates: [0] } },
    },
  },
  ...classes('EventTarget', (name) => name),
  ...classes('Event CustomEvent', () => 'Event'),
  ...classes('TextEncoder TextDecoder', (name) => name),
  ...BLOBS,
  crypto: { members: webCrypto },
  performance: PERFORMANCE,
};

export const globals: { readonly [name: string]: Member } = {
  ...PRIMITIVES,
  ...ERRORS,
  ...TYPED,
  ...COLLECTIONS,
  ...WEB,
  ...timerMembers,
  queueMicrotask: { call: { ruptures: [post(0, [])], returns: 'fresh' } },
  process: { is: 'process.Process' },
  console: { is: 'console.Console' },
  Buffer: BUFFER,
  Object: OBJECT,
  Array: ARRAY,
  Promise: PROMISE,
  Math: MATH,
  // What it makes of text is not in the source.
  Function: { members: prototype('Function') },
  // The analyzer takes what it gives for its target.
  Proxy: { construct: { returns: 'argument 0' }, members: pure('revocable') },
  Reflect: REFLECT,
  Intl: INTL,
  JSON: {
    members: {
      parse: { call: { ruptures: [sync(1, ['fresh', 'fresh'])], returns: 'data' } },
      stringify: { call: { ruptures: [sync(1, ['fresh', 'contents 0'])], returns: 'fresh' } },
    },
  },
  Date: {
    call: { returns: 'fresh', does: ['clock'] },
    // With arguments it reads no clock; the analyzer may say so, the table cannot.
    construct: { returns: 'Date', does: ['clock'] },
    members: { ...calls('now', { does: ['clock'] }), ...pure('UTC parse') },
  },
  RegExp: {
    call: { returns: 'StatefulRegExp' },
    construct: { returns: 'StatefulRegExp' },
    members: pure('escape'),
  },
  FinalizationRegistry: {
    construct: { ruptures: [post(0, ['unknown'])], returns: 'FinalizationRegistry' },
  },
  ...values('globalThis global'),
};
