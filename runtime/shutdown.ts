/**
 * SIGTERM and SIGINT, where the app leaves them to Node: no new connections, what is running may end, then the process
 * dies of the signal as it would have. An app that listens to the signal itself decides for itself.
 */
import type { Server } from 'node:http';
import process from 'node:process';
import timers from 'node:timers';

const { setTimeout } = timers;

/** Streams that never end must not keep the process. */
const LONGEST_MS = 10_000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export function drainOnSignals(servers: () => readonly Server[], beforeEnd: () => void): void {
  for (const signal of SIGNALS) {
    let isDraining = false;
    const listener = (): void => {
      if (process.listenerCount(signal) > 1) return;
      const end = (): void => {
        beforeEnd();
        process.off(signal, listener);
        process.kill(process.pid, signal);
      };
      // Whoever asks twice does not want to wait.
      if (isDraining) return end();
      isDraining = true;
      void Promise.all(servers().map(close)).then(end);
      setTimeout(end, LONGEST_MS).unref();
    };
    process.on(signal, listener);
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (!server.listening) return resolve();
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
