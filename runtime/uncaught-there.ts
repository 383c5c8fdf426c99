/**
 * A replica's side of errors that nobody caught there: home is told, which has the app's listeners and their state, and the thread
 * stands still until it is decided there what becomes of them. uncaught.ts is the other side.
 */
import { devNull } from 'node:os';
import { tellRejected } from './http-bridge/promised.js';
import { isOwnFault, mendStack } from './http-bridge/stack.js';
import { DIES, type ToHome } from './messages.js';
import process from './node-process.cjs';

/** Before the firewall is up. */
const { openSync } = process.getBuiltinModule('node:fs');

type Told = Extract<ToHome, { readonly kind: 'uncaught' }>;

export interface UncaughtThere {
  tell(told: Pick<Told, 'how' | 'promise' | 'verdict'>, error: unknown): void;
  tellLater(kind: 'caught-late' | 'dropped', promise: number): void;
  /** Home knows, and nothing goes on here. */
  isTold(error: unknown): boolean;
  /** An error of Fluxion's own. The thread ends, not the process. */
  ownFault(stack: string): void;
}

const HEARD = ['uncaughtException', 'uncaughtExceptionMonitor', 'unhandledRejection', 'rejectionHandled'] as const;

export function tellUncaught(options: UncaughtThere): void {
  for (const event of HEARD) process.removeAllListeners(event);
  takeCapture();
  // What home has taken is taken here.
  process.on('uncaughtException', () => {});
  const there = new There(options);
  const fatal: unknown = Reflect.get(process, '_fatalException');
  Reflect.set(process, '_fatalException', (error: unknown, isFromPromise: unknown): unknown => {
    const dies = there.dies(error, isFromPromise === true);
    return dies || typeof fatal !== 'function' ? false : Reflect.apply(fatal, process, [error, isFromPromise]);
  });
  const { emit } = process;
  const value = (...args: readonly unknown[]): unknown => {
    const [event, first, second] = args;
    if (event === 'unhandledRejection') return there.isTaken(first, second);
    if (event === 'rejectionHandled') there.caughtLate(first);
    return Reflect.apply(emit, process, args);
  };
  Object.defineProperty(process, 'emit', { value, configurable: true, writable: true });
}

/** Home's is called. */
function takeCapture(): void {
  try {
    process.setUncaughtExceptionCaptureCallback(null);
  } catch {
    // It is for domains alone where there are any.
  }
}

class There {
  readonly #options: UncaughtThere;
  readonly #rejected = new WeakMap<object, number>();
  readonly #dropped = new FinalizationRegistry((id: number) => this.#options.tellLater('dropped', id));
  #count = 0;
  #isDying = false;
  /** Rejected, and home does not know yet. */
  #pending: { readonly error: unknown; readonly promise: unknown } | null = null;
  /** With `--unhandled-rejections=strict` a rejection is an error first. */
  #wasStrict = false;

  constructor(options: UncaughtThere) {
    this.#options = options;
  }

  /** Called by Node, which by now has found out where the error was thrown or made: whoever reads its stack makes V8 forget that. */
  dies(error: unknown, isFromPromise: boolean): boolean {
    if (this.#isDying) return true;
    if (this.#options.isTold(error)) return false;
    if (isOwnFault(error)) {
      this.#options.ownFault(String((error as Error).stack));
      return true;
    }
    if (!isFromPromise) return this.#ask('thrown', error, null);
    if (this.#pending !== null) return this.#askPending();
    this.#wasStrict = true;
    return this.#ask('rejected', error, null);
  }

  /** Whether home has taken it, or will. If not, Node makes an error of it, or a warning, or nothing. */
  isTaken(error: unknown, promise: unknown): boolean {
    const wasStrict = this.#wasStrict;
    this.#wasStrict = false;
    if (wasStrict || this.#options.isTold(error) || tellRejected(promise, error)) return true;
    this.#pending = { error, promise };
    queueMicrotask(() => void this.#askPending());
    return false;
  }

  caughtLate(promise: unknown): void {
    const id = typeof promise === 'object' && promise !== null ? this.#rejected.get(promise) : undefined;
    if (id !== undefined) this.#options.tellLater('caught-late', id);
  }

  #askPending(): boolean {
    if (this.#pending === null) return false;
    const { error, promise } = this.#pending;
    this.#pending = null;
    return this.#ask('rejected', error, promise);
  }

  #ask(how: 'thrown' | 'rejected', error: unknown, promise: unknown): boolean {
    const id = ++this.#count;
    if (typeof promise === 'object' && promise !== null) {
      this.#rejected.set(promise, id);
      this.#dropped.register(promise, id);
    }
    mendStack(error, undefined);
    const verdict = new Int32Array(new SharedArrayBuffer(12));
    this.#options.tell({ how, promise: id, verdict }, error);
    Atomics.wait(verdict, 0, 0);
    if (Atomics.load(verdict, 0) !== DIES) return false;
    this.#isDying = true;
    // Closed when the thread has ended, which home waits for.
    Atomics.store(verdict, 1, openSync(devNull, 'r') + 1);
    Atomics.notify(verdict, 1);
    return true;
  }
}
