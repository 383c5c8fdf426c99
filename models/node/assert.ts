import type { Members } from '../build.js';
import { post, pure, sync } from '../build.js';
import type { Member, PackageModel } from '../types.js';

const CHECKS: Members = {
  ...pure(`ok equal notEqual deepEqual notDeepEqual strictEqual notStrictEqual deepStrictEqual notDeepStrictEqual
    partialDeepStrictEqual match doesNotMatch ifError fail`),
  throws: { call: { ruptures: [sync(0, []), sync(1, ['unknown'])], returns: 'fresh' } },
  doesNotThrow: { call: { ruptures: [sync(0, [])], returns: 'fresh' } },
  rejects: { call: { ruptures: [sync(0, []), post(1, ['unknown'])], promise: true, returns: 'fresh' } },
  doesNotReject: { call: { ruptures: [sync(0, [])], promise: true, returns: 'fresh' } },
  AssertionError: { construct: { returns: 'Error', keeps: [-1] } },
};
const check: Member = {
  call: { returns: 'fresh' },
  members: { ...CHECKS, strict: { call: { returns: 'fresh' }, members: CHECKS } },
};

export const assert = { name: 'assert', module: check } satisfies PackageModel;

export const assertStrict = { name: 'assert/strict', module: check } satisfies PackageModel;
