/**
 * Signals that end the process, while a folder is being written: they wait until it is there, as what is half-written would lie beside it for
 * good. A second one does not wait.
 */
import process from 'node:process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface HeldSignals {
  hold(): void;
  /** Ends the process if there was one. */
  release(): Promise<void>;
}

export function heldSignals(): HeldSignals {
  let came: NodeJS.Signals | null = null;
  const take = (signal: NodeJS.Signals): void => {
    came = signal;
    forget();
  };
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, take);
  };
  return {
    hold: () => {
      for (const signal of SIGNALS) process.on(signal, take);
    },
    release: async () => {
      forget();
      if (came === null) return;
      process.kill(process.pid, came);
      // It comes in a later turn.
      await new Promise((resolve) => setTimeout(resolve, 1000));
    },
  };
}
