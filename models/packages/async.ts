import type { Members } from '../build.js';
import { each, post, start } from '../build.js';
import type { Call, PackageModel, ValueRef } from '../types.js';

const DONE = ['fresh', 'unknown'] as const;

/** Tasks and iteratees are called several times or side by side in one flow, so each of them is a start. */
const tasks: Call = {
  ruptures: [post('last', DONE), start('functions', ['unknown', 'unknown'], { from: 0 })],
  returns: 'unknown',
  promiseWithoutCallback: true,
};
const iterating = (at: number, params: readonly ValueRef[]): Call => ({
  ruptures: [start(at, params), post('last', DONE)],
  returns: 'unknown',
  promiseWithoutCallback: true,
});

const ITEM = ['contents 0', 'async.Callback'] as const;
const EACH = `each forEach map mapValues filter reject detect some every concat groupBy sortBy`;
const limited = (suffix: string): string =>
  EACH.trim()
    .replace(/\s+|$/g, `${suffix} `)
    .replace(/sortBy\w+ /, '');

const MEMBERS: Members = {
  ...each('parallel series waterfall auto race parallelLimit tryEach', { call: tasks }),
  ...each(EACH, { call: iterating(1, ITEM) }),
  ...each(limited('Series'), { call: iterating(1, ITEM) }),
  ...each(limited('Limit'), { call: iterating(2, ITEM) }),
  ...each('eachOf forEachOf eachOfSeries forEachOfSeries', {
    call: iterating(1, ['contents 0', 'fresh', 'async.Callback']),
  }),
  ...each('eachOfLimit forEachOfLimit', { call: iterating(2, ['contents 0', 'fresh', 'async.Callback']) }),
  ...each('times timesSeries', { call: iterating(1, ['fresh', 'async.Callback']) }),
  timesLimit: { call: iterating(2, ['fresh', 'async.Callback']) },
  ...each('reduce reduceRight inject foldl foldr', { call: iterating(2, ['unknown', 'contents 0', 'async.Callback']) }),
  ...each('whilst until doWhilst doUntil forever retry', { call: tasks }),
  setImmediate: { call: { ruptures: [post(0, ['argument 1', 'argument 2'])], returns: 'fresh' } },
  nextTick: { call: { ruptures: [post(0, ['argument 1', 'argument 2'])], returns: 'fresh' } },
};

export const async = {
  name: 'async',
  memberPaths: true,
  module: { members: MEMBERS },
  types: { Callback: { members: {}, call: { returns: 'fresh', keeps: [-1] } } },
} satisfies PackageModel;
