import type { Members } from '../build.js';
import { calls, each, pure, sync, values } from '../build.js';
import type { Call, PackageModel, ValueRef } from '../types.js';

const ELEMENT: readonly ValueRef[] = ['contents 0', 'fresh', 'argument 0'];
/** An iteratee is the second argument; it may also be a name or a pattern, which calls nothing. */
const iterating = (returns: ValueRef): Call => ({ ruptures: [sync(1, ELEMENT)], returns });
/** The iteratee comes last, after any number of collections. */
const iteratingLast = (returns: ValueRef): Call => ({
  ruptures: [sync('last', ['contents 0 | contents 1 | contents 2 | contents 3', 'unknown'])],
  returns,
});
const FOLDED = 'argument 2 | result 1 | contents 0 without 2';
const folding: Call = { ruptures: [sync(1, [FOLDED, 'contents 0', 'fresh', 'argument 0'])], returns: FOLDED };

/** What lodash and underscore have in common. */
const COMMON: Members = {
  ...pure(`isArguments isArray isArrayBuffer isBoolean isDate isElement isEmpty isEqual isError isFinite
    isFunction isMap isMatch isNaN isNull isNumber isObject isRegExp isSet isString isSymbol isTypedArray isUndefined
    isWeakMap isWeakSet escape unescape has keys noop range size indexOf lastIndexOf includes functions`),
  ...pure('identity', 'argument 0'),
  ...pure(
    `clone compact difference drop flatten head initial intersection last tail take toArray union unzip values without
    zip invert chunk first`,
    'copy -1 | contents 0',
  ),
  ...each('omit pick uniq', { call: iteratingLast('copy 0') }),
  ...each('each forEach', { call: iterating('argument 0') }),
  ...each('map', { call: iterating('results 1') }),
  ...each('filter reject partition sortBy groupBy', { call: iterating('copy 0') }),
  ...each('find max min', { call: iterating('contents 0 | copy 0') }),
  ...each('every some findIndex findLastIndex countBy findKey sortedIndex', { call: iterating('fresh') }),
  ...each('reduce reduceRight', { call: folding }),
  ...pure('property propertyOf matches', 'unknown'),
  ...calls('extend assign defaults', { mutates: [0], keeps: [-1], returns: 'argument 0' }),
  ...calls('random shuffle sample', { does: ['random'], returns: 'copy 0 | contents 0' }),
  ...calls('now', { does: ['clock'] }),
  ...calls('uniqueId', { stateful: true }),
  ...pure('negate', 'bound argument 0'),
  ...calls('once memoize', { returns: 'bound argument 0', stateful: true }),
  ...calls('debounce throttle', { returns: 'bound argument 0', stateful: true, does: ['timer'] }),
  ...calls('after before', { returns: 'bound argument 1', stateful: true }),
  delay: {
    call: {
      ruptures: [{ kind: 'post', callback: 0, params: ['argument 2', 'argument 3', 'argument 4'] }],
      returns: 'timers.Timeout',
      does: ['timer'],
    },
  },
  defer: {
    call: {
      ruptures: [{ kind: 'post', callback: 0, params: ['argument 1', 'argument 2', 'argument 3'] }],
      returns: 'timers.Timeout',
      does: ['timer'],
    },
  },
  times: { call: { ruptures: [sync(1, ['fresh'])], returns: 'results 1' } },
  tap: { call: { ruptures: [sync(1, ['argument 0'])], returns: 'argument 0' } },
  constant: { call: { returns: 'unknown' } },
  template: { call: { returns: 'lodash.Template', keeps: [-1] } },
  chain: { call: { returns: 'lodash.Wrapper', keeps: [0] } },
  ...values('VERSION templateSettings'),
};

const LODASH: Members = {
  ...COMMON,
  ...each('keyBy uniqBy', { call: iterating('copy 0') }),
  rest: { call: { returns: 'bound argument 0' } },
  ...pure(`add camelCase capitalize ceil clamp conformsTo deburr divide endsWith eq escapeRegExp floor gt gte
    hasIn inRange isArrayLike isArrayLikeObject isBuffer isInteger isLength isNative isNil isObjectLike isPlainObject
    isSafeInteger kebabCase keysIn lowerCase lowerFirst lt lte mean multiply pad padEnd padStart parseInt rangeRight
    repeat replace round snakeCase sortedIndexOf sortedLastIndexOf split startCase startsWith stubArray stubFalse
    stubObject stubString stubTrue subtract sum toFinite toInteger toLength toLower toNumber toPath toSafeInteger toString
    toUpper trim trimEnd trimStart truncate upperCase upperFirst words functionsIn`),
  cloneDeep: { call: { returns: 'fresh' } },
  ...pure('get at result', 'within 0 | argument 2 | copy 0'),
  ...pure('nth', 'contents 0'),
  ...pure(
    `castArray concat dropRight flattenDeep flattenDepth fromPairs sampleSize
    sortedUniq takeRight toPairs toPairsIn toPlainObject entries entriesIn valuesIn xor zipObject zipObjectDeep`,
    'copy -1',
  ),
  ...each('forEachRight eachRight forIn forInRight forOwn forOwnRight', { call: iterating('argument 0') }),
  ...each('flatMap flatMapDeep flatMapDepth mapValues mapKeys', { call: iterating('results 1 | copy 0') }),
  ...each('orderBy dropWhile dropRightWhile takeWhile takeRightWhile omitBy pickBy invertBy sortedUniqBy', {
    call: iterating('copy 0'),
  }),
  ...each('findLast maxBy minBy', { call: iterating('contents 0') }),
  ...each('sumBy meanBy findLastKey', { call: iterating('fresh') }),
  ...each('differenceBy intersectionBy unionBy xorBy differenceWith intersectionWith unionWith xorWith', {
    call: iteratingLast('copy -1'),
  }),
  ...each('cloneWith cloneDeepWith', {
    call: { ruptures: [sync(1, ['argument 0 | contents 0'])], returns: 'copy 0 | results 1' },
  }),
  ...calls('assignIn assignWith assignInWith extendWith', { mutates: [0], keeps: [-1], returns: 'argument 0' }),
  ...calls('defaultsDeep merge set setWith', {
    mutates: [0],
    deep: true,
    keeps: [-1],
    returns: 'argument 0',
  }),
  mergeWith: {
    call: {
      ruptures: [sync('last', ['within 0', 'within 1 | within 2'])],
      mutates: [0],
      deep: true,
      keeps: [-1],
      returns: 'argument 0',
    },
  },
  ...each('update updateWith', {
    call: { ruptures: [sync(2, ['within 0'])], mutates: [0], deep: true, returns: 'argument 0' },
  }),
  ...calls('unset', { mutates: [0], deep: true }),
  ...calls('pull pullAll pullAllBy pullAllWith fill reverse', { mutates: [0], keeps: [1], returns: 'argument 0' }),
  ...calls('pullAt', { mutates: [0], returns: 'copy 0' }),
  remove: { call: { ruptures: [sync(1, ELEMENT)], mutates: [0], returns: 'copy 0' } },
  transform: {
    call: {
      ruptures: [sync(1, ['argument 2 | fresh', 'contents 0', 'fresh', 'argument 0'])],
      mutates: [2],
      keeps: [0],
      returns: 'argument 2 | copy 0',
    },
  },
  thru: { call: { ruptures: [sync(1, ['argument 0'])], returns: 'result 1' } },
  attempt: { call: { ruptures: [sync(0, ['argument 1', 'argument 2'])], returns: 'result 0' } },
  ...pure('ary unary', 'bound argument 0'),
  sampleSize: { call: { returns: 'copy 0', does: ['random'] } },
};

const UNDERSCORE: Members = {
  ...COMMON,
  ...pure('contains include isDataView methods'),
  ...pure('object pairs rest', 'copy -1'),
  ...each('unique', { call: iteratingLast('copy 0') }),
  ...each('collect mapObject', { call: iterating('results 1') }),
  ...each('select indexBy', { call: iterating('copy 0') }),
  ...each('detect findWhere where', { call: iterating('contents 0 | copy 0') }),
  ...each('all any', { call: iterating('fresh') }),
  ...each('foldl inject foldr', { call: folding }),
  ...pure('pluck matcher', 'unknown'),
  ...calls('extendOwn', { mutates: [0], keeps: [-1], returns: 'argument 0' }),
};

/** What is given to its methods is called when the value is asked for. */
const WRAPPED: Call = { returns: 'this', keeps: [-1] };

export const lodash = {
  name: 'lodash',
  module: { members: LODASH },
  memberPaths: true,
  types: {
    // Code that was made of a text.
    Template: { call: { returns: 'fresh' }, members: {} },
    Wrapper: {
      members: {
        ...each(
          `map filter reject sortBy orderBy groupBy keyBy countBy flatMap flatten uniq uniqBy compact chunk take drop pick
          omit mapValues mapKeys pickBy omitBy toPairs fromPairs keys values partition slice head last zip sum sumBy max
          maxBy min minBy mean size join reduce find some every includes`,
          { call: WRAPPED },
        ),
        value: { call: { returns: 'contents | copy' } },
      },
    },
  },
} satisfies PackageModel;

export const underscore = { name: 'underscore', module: { members: UNDERSCORE } } satisfies PackageModel;
