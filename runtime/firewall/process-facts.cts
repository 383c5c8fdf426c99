/**
 * Reads:   the process, before the app's first line.
 * Gives:   what the app can see of it, as data.
 */
import tty = require('node:tty');

import type { ProcessFacts, StreamFacts } from './startup-record.cjs';

const PLAIN: StreamFacts = { isTTY: false, columns: undefined, rows: undefined, colorDepth: 1 };

function read(): Omit<ProcessFacts, 'timeOrigin'> {
  return {
    argv: [...process.argv],
    argv0: process.argv0,
    execArgv: [...process.execArgv],
    execPath: process.execPath,
    title: process.title,
    cwd: process.cwd(),
    umask: process.umask(),
    pid: process.pid,
    ppid: process.ppid,
    env: readEnv(),
    hasChannel: typeof process.send === 'function',
    stdinIsTTY: tty.isatty(0),
    stdout: readStream(1),
    stderr: readStream(2),
    isClusterWorker: isClusterWorker(),
  };
}

/** Node has loaded `cluster` by itself in a worker of a cluster; elsewhere loading it takes long. */
function isClusterWorker(): boolean {
  const loaded: unknown = Reflect.get(process, 'moduleLoadList');
  if (!Array.isArray(loaded) || !loaded.includes('NativeModule cluster')) return false;
  const cluster: unknown = require('node:cluster');
  return typeof cluster === 'object' && cluster !== null && Reflect.get(cluster, 'isWorker') === true;
}

function readEnv(): { [name: string]: string } {
  const env: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  return env;
}

/** The stream itself is made only where it is a terminal: a file or pipe has nothing to tell, and making it costs. */
function readStream(fd: 1 | 2): StreamFacts {
  if (!tty.isatty(fd)) return PLAIN;
  const stream = fd === 1 ? process.stdout : process.stderr;
  return { isTTY: true, columns: stream.columns, rows: stream.rows, colorDepth: stream.getColorDepth() };
}

export = { read };
