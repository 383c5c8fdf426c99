/**
 * Gives: how many cores' worth of time this process can have: what it may run on, and no more than what its container or
 *        service is given. Node before 22 does not look at the latter, and would start a thread for each core of the host.
 */
import fs = require('node:fs');
import os = require('node:os');
import path = require('node:path');

import type { RunOptions } from './types.js' with { 'resolution-mode': 'import' };

const ROOT = '/sys/fs/cgroup';

/** `read` gives the text of a file, or null. */
function cores(read: (file: string) => string | null = readText): number {
  return Math.max(1, Math.min(os.availableParallelism(), Math.ceil(quota(read))));
}

/** Why other threads are of no use here; null where they are, or are wanted whatever they are good for. */
function oneCore({ threads, placement, accept }: RunOptions): string | null {
  const isByChoice = threads !== 'auto' || placement !== 'auto' || accept === 'every';
  if (isByChoice || cores() > 1) return null;
  return 'there is one core, which another thread would have to share; --threads 1 starts one all the same';
}

/** As a share of one core's time; the least that holds anywhere above this process. */
function quota(read: (file: string) => string | null): number {
  const own = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1] ?? '/';
  let least = quotaOf(read(`${ROOT}/cpu/cpu.cfs_quota_us`), read(`${ROOT}/cpu/cpu.cfs_period_us`));
  for (let at = path.posix.normalize(own); ; at = path.posix.dirname(at)) {
    const [most = null, period = null] =
      read(path.posix.join(ROOT, at, 'cpu.max'))
        ?.trim()
        .split(' ') ?? [];
    least = Math.min(least, quotaOf(most, period));
    if (at === '/' || at === '.') return least;
  }
}

/** `max` and -1 say that there is none. */
function quotaOf(most: string | null, period: string | null): number {
  const share = Number(most) / Number(period);
  return Number.isFinite(share) && share > 0 ? share : Number.POSITIVE_INFINITY;
}

function readText(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

export = { cores, oneCore };
