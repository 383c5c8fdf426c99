import { calls, each, pure } from '../build.js';
import type { PackageModel } from '../types.js';

const TYPES = pure(`isAnyArrayBuffer isArgumentsObject isArrayBuffer isArrayBufferView isAsyncFunction
  isBigInt64Array isBigIntObject isBigUint64Array isBooleanObject isBoxedPrimitive isCryptoKey isDataView isDate
  isExternal isFloat32Array isFloat64Array isGeneratorFunction isGeneratorObject isInt16Array isInt32Array isInt8Array
  isKeyObject isMap isMapIterator isModuleNamespaceObject isNativeError isNumberObject isPromise isProxy isRegExp isSet
  isSetIterator isSharedArrayBuffer isStringObject isSymbolObject isTypedArray isUint16Array isUint32Array isUint8Array
  isUint8ClampedArray isWeakMap isWeakSet`);

export const util = {
  name: 'util',
  module: {
    members: {
      ...pure(`format formatWithOptions inspect isDeepStrictEqual stripVTControlCharacters styleText toUSVString
        parseArgs parseEnv getSystemErrorName getSystemErrorMap getSystemErrorMessage diff getCallSites`),
      ...pure(`isArray isBoolean isBuffer isDate isError isFunction isNull isNullOrUndefined isNumber isObject
        isPrimitive isRegExp isString isSymbol isUndefined`),
      promisify: { call: { returns: 'promisified argument 0' } },
      deprecate: { call: { returns: 'bound argument 0' } },
      ...each('debug debuglog', { call: { returns: 'util.DebugLog' } }),
      ...calls('log', { does: ['output'] }),
      inherits: { call: { mutates: [0], keeps: [1], returns: 'fresh' } },
      _extend: { call: { mutates: [0], keeps: [1], returns: 'argument 0' } },
      ...pure('transferableAbortController', 'AbortController'),
      transferableAbortSignal: { call: { returns: 'argument 0', mutates: [0] } },
      aborted: { call: { promise: true, returns: 'fresh', mutates: [0] } },
      TextDecoder: { construct: { returns: 'TextDecoder' } },
      TextEncoder: { construct: { returns: 'TextEncoder' } },
      types: { members: TYPES },
    },
  },
  types: {
    DebugLog: { call: { returns: 'fresh', does: ['output'] }, members: { enabled: { is: 'fresh' } } },
  },
} satisfies PackageModel;

export const utilTypes = { name: 'util/types', module: { members: TYPES } } satisfies PackageModel;
