import { availableParallelism } from 'node:os';
import test from 'ava';
import cores from '../runtime/cores.cjs';
import type { RunOptions } from '../runtime/types.js';

/** A system that consists of these files. */
function count(files: { readonly [file: string]: string }): number {
  return cores.cores((file) => files[file] ?? null);
}

const all = availableParallelism();

test('without limits it is what the process may run on', (t) => {
  t.is(count({}), all);
  t.is(count({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }), all);
  t.is(
    count({ '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' }),
    all,
  );
});

test('a container that is given one core, or less, has one', (t) => {
  t.is(count({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '100000 100000\n' }), 1);
  t.is(count({ '/sys/fs/cgroup/cpu.max': '20000 100000\n' }), 1);
  const older = {
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  };
  t.is(count(older), 1);
});

test('a limit further up holds as well', (t) => {
  const files = {
    '/proc/self/cgroup': '0::/system.slice/app.service\n',
    '/sys/fs/cgroup/system.slice/app.service/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/system.slice/cpu.max': '100000 100000\n',
  };
  t.is(count(files), 1);
});

test('a part of a core more counts as one, and what is not there does not', (t) => {
  t.is(count({ '/sys/fs/cgroup/cpu.max': '150000 100000\n' }), Math.min(2, all));
  t.is(count({ '/sys/fs/cgroup/cpu.max': '6400000 100000\n' }), all);
  t.is(count({ '/sys/fs/cgroup/cpu.max': 'nonsense\n' }), all);
});

test('whoever says how many threads there are to be gets them', (t) => {
  const options: RunOptions = {
    ...{ threads: 1, placement: 'auto', config: null, report: null, record: null, logLevel: 'warn', accept: 'auto' },
    ...{ sanitize: false, fastPath: true, maxBlockMs: 0, overload: 'wait' },
  };
  t.is(cores.oneCore(options), null);
  t.is(cores.oneCore({ ...options, threads: 'auto', placement: 'eager' }), null);
});
