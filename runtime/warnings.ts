/**
 * What `process.emitWarning` says in a replica is said at home, where the app's own listeners are. A deprecation is told
 * once for each process, and so it is where several loops come upon it.
 */

import { deprecate } from 'node:util';
import process from './node-process.cjs';

export interface WarningMessage {
  readonly kind: 'warning';
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code: string | null;
  readonly detail: string | null;
}

/** Home's Node warns of these, as it is told of what was rejected. */
const OF_HOME: ReadonlySet<string> = new Set(['UnhandledPromiseRejectionWarning', 'PromiseRejectionHandledWarning']);

/** In a replica, whose own listeners know only what it knows. */
export function sendWarnings(send: (message: WarningMessage) => void): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    const { name, message, stack = '' } = warning;
    if (OF_HOME.has(name)) return;
    send({ kind: 'warning', name, message, stack, code: text(warning, 'code'), detail: text(warning, 'detail') });
  });
}

function text(warning: Error, key: string): string | null {
  const value: unknown = Reflect.get(warning, key);
  return typeof value === 'string' ? value : null;
}

const told = new Set<string>();

export function warnHere({ name, message, stack, code, detail }: WarningMessage): void {
  if (name === 'DeprecationWarning') {
    if (told.has(message)) return;
    told.add(message);
    // Node's own list of what has been told, of which there is one for each thread.
    if (code !== null && detail === null) return deprecate(() => {}, message, code)();
  }
  const warning = new Error(message);
  warning.name = name;
  warning.stack = stack;
  if (code !== null) Reflect.set(warning, 'code', code);
  if (detail !== null) Reflect.set(warning, 'detail', detail);
  process.emitWarning(warning);
}
