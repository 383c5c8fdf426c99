/**
 * The threads that replicas live on: a Piscina pool, used for what it is good at, starting threads, replacing those that
 * died, counting. A replica is one short task, which leaves a port behind in its thread; messages then go by that port
 * and never through the task queue, whose hop costs several times as much.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { ReplicaSetup, ReplicaStarted } from './messages.js';

export interface Thread {
  readonly port: MessagePort;
  readonly started: Promise<ReplicaStarted>;
  /** Ends the thread, whatever it is doing. */
  terminate(): void;
}

export class ThreadPool {
  readonly #pool: Piscina;
  /** Threads that have a replica, or had one: a thread is never used for a second. */
  readonly #used = new Set<number>();
  #chosen: number | null = null;

  constructor(threads: number, env: NodeJS.ProcessEnv) {
    this.#pool = new Piscina({
      filename: new URL('./replica.js', import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      // Otherwise the event loop of a thread stands still between tasks.
      atomics: 'disabled',
      loadBalancer: (_task, workers) => this.#choose(workers),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ''])),
    });
    // A thread that dies is told of by its port; nobody else is to be stopped by it.
    this.#pool.on('error', () => {});
  }

  start(setup: ReplicaSetup): Thread {
    const { port1, port2 } = new MessageChannel();
    this.#chosen = null;
    const started: Promise<ReplicaStarted> = this.#pool.run({ setup, port: port2 }, { transferList: [port2] });
    const chosen = this.#chosen;
    const terminate = async (): Promise<void> => {
      const id =
        chosen ??
        (await started.then(
          ({ threadId }) => threadId,
          () => -1,
        ));
      await this.#pool.threads.find(({ threadId }) => threadId === id)?.terminate();
    };
    return { port: port1, started, terminate: () => void terminate() };
  }

  /** Called at once where a thread is free, later where one is still being made. */
  #choose<T extends { readonly id: number }>(workers: readonly T[]): T | null {
    const free = workers.find(({ id }) => !this.#used.has(id)) ?? null;
    if (free !== null) this.#used.add(free.id);
    this.#chosen = free?.id ?? null;
    return free;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
