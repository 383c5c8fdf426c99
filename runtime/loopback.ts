/**
 * `--placement loopback`: each function that a server calls for requests goes through the HTTP bridge, on this very loop.
 * It proves the bridge on any program, and on its tests, without threads and without knowing anything about the code.
 *
 * Reads: what a server calls, when a request has come and before anybody has been called for it, since routes may be added
 *        at any time.
 * Gives: stubs in the place of middleware, handlers, error handlers and functions for parameters.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { recordResponses } from './http-bridge/index.js';
import { Reflector } from './link/reflect.js';
import { hasStack, type Slot, stacksOfServer } from './link/routers.js';
import { Log } from './log.js';
import { throughBridge } from './loopback-call.js';
import { hooksIn } from './loopback-hooks.js';
import { sameRequest } from './loopback-identity.js';
import type { LogLevel } from './types.js';

export function startLoopback(level: LogLevel): void {
  recordResponses();
  sameRequest();
  const loopback = new Loopback(new Log(level));
  // Node says so before it emits 'request', and leaves no trace in servers or stacks.
  subscribe('http.server.request.start', (message) => loopback.see(message));
}

class Loopback {
  readonly #log: Log;
  #reflector: Remembering | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  see(message: unknown): void {
    const server: unknown =
      typeof message === 'object' && message !== null ? Reflect.get(message, 'server') : undefined;
    if (isEmitter(server)) this.#replaceAll(server);
  }

  #replaceAll(server: EventEmitter): void {
    this.#reflector ??= new Remembering();
    const { slots } = stacksOfServer(server, this.#reflector);
    for (const slot of slots) {
      if (slot.hasStub || isDispatcher(slot) || this.#callsApp(slot, slots)) continue;
      // It is called by its router itself, so that nothing of ours is in its stack traces.
      if (!hooksIn(slot.fn)) this.#replace(slot);
    }
  }

  /** A listener that does no more than to call an app: that app's own functions are taken. */
  #callsApp({ owner, path }: Slot, slots: readonly Slot[]): boolean {
    return owner === null && slots.some((other) => other.owner !== null && other.path.startsWith(`${path}.`));
  }

  #replace(slot: Slot): void {
    const stub = throughBridge(slot, this.#log, () => slot.replace(slot.fn));
    // Node knows by this that the one stands for the other, as it does with listeners that are called once.
    if (slot.owner === null) Object.defineProperty(stub, 'listener', { value: slot.fn, configurable: true });
    slot.replace(stub);
  }
}

/** The same functions are asked about with each request. */
class Remembering extends Reflector {
  readonly #known = new WeakMap<object, ReadonlyMap<string, unknown>>();

  override variables(fn: object): ReadonlyMap<string, unknown> {
    const known = this.#known.get(fn);
    if (known !== undefined) return known;
    const found = super.variables(fn);
    // A variable may get its app later.
    if ([...found.values()].some(hasStack)) this.#known.set(fn, found);
    return found;
  }
}

/** Express 3 has its routes behind a middleware of its own; these are slots themselves. */
function isDispatcher({ fn, owner }: Slot): boolean {
  const router: unknown = owner === null ? null : Reflect.get(owner, '_router');
  return typeof router === 'object' && router !== null && Reflect.get(router, 'middleware') === fn;
}

function isEmitter(value: unknown): value is EventEmitter {
  return typeof value === 'object' && value !== null && 'rawListeners' in value;
}
