/**
 * SIGTERM and SIGINT, where the app leaves them to Node: no new connections, what is running may end, then the process
 * dies of the signal as it would have. An app that listens to the signal itself decides for itself.
 */
import type { Server } from 'node:http';
import timers from 'node:timers';
import { hideListener } from './hide-listener.js';
import process from './node-process.cjs';

const { clearInterval, setInterval, setTimeout } = timers;

/** Streams that never end must not keep the process. */
const LONGEST_MS = 10_000;
/** Connections that are kept open for a next request become idle one by one. */
const LOOK_EVERY_MS = 50;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export interface Draining {
  readonly servers: () => readonly Server[];
  /** What runs elsewhere has come to its end, whether or not somebody waits for an answer. */
  readonly isIdle: () => boolean;
  readonly beforeEnd: () => void;
}

export function drainOnSignals(draining: Draining): void {
  for (const signal of SIGNALS) {
    let isDraining = false;
    let wasHeard = false;
    let isOff = false;
    const stop = (): void => {
      isOff = true;
      draining.beforeEnd();
      process.off(signal, listener);
    };
    const removed = (event: string | symbol): void => {
      if (event !== signal || isOff || process.listenerCount(signal) > 0) return;
      // The app listened until it had tidied up, and now sends the signal to itself: with a listener of ours it would come too late.
      if (wasHeard) return stop();
      // Node, which sees no other listener either, has given the signal back to the system.
      isOff = true;
      process.off(signal, listener);
      process.prependListener(signal, listener);
      isOff = false;
    };
    const listener = (): void => {
      if (process.listenerCount(signal) > 0) {
        wasHeard = true;
        return;
      }
      const end = (): void => {
        stop();
        process.kill(process.pid, signal);
      };
      // Whoever asks twice does not want to wait, be it that the app listened to the first time only.
      if (isDraining || wasHeard) return end();
      isDraining = true;
      drain(draining, end);
    };
    hideListener(process, signal, listener);
    hideListener(process, 'removeListener', removed);
    // Before the app's own, which may be gone once they have been called.
    process.prependListener(signal, listener);
    process.on('removeListener', removed);
  }
}

function drain({ servers, isIdle }: Draining, end: () => void): void {
  let open = 0;
  const look = (): void => {
    for (const server of servers()) server.closeIdleConnections();
    if (open > 0 || !isIdle()) return;
    clearInterval(timer);
    end();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  setTimeout(end, LONGEST_MS).unref();
  for (const server of servers()) {
    if (!server.listening) continue;
    open++;
    server.close(() => {
      open--;
      look();
    });
  }
  look();
}
