/**
 * Inside a replica: clients that are connected here tell nobody of it but the packages that connect.
 *
 * Reads: clients, and where their listeners stand in the source.
 * Gives: the same clients, where listeners of the app, and of packages that use them (queues, stores), do nothing any more. What happens
 *        to a connection home's own client tells at home; told once more here, it would be printed, counted and acted on twice.
 */
import { EventEmitter } from 'node:events';
import type { Reflector } from './link/reflect.js';

/** They listen to each other. */
const OF_DRIVER = /[\\/]node_modules[\\/](?:mongodb|mongoose|ioredis|redis|@redis[\\/][^\\/]+)[\\/]/;
const FILE = /^(?:file:|[\\/]|\w:[\\/])/;

export function quietClients(clients: readonly object[], reflector: Reflector): void {
  for (const client of clients) {
    if (!isEmitter(client)) continue;
    for (const event of client.eventNames()) {
      const listeners = client.listeners(event);
      const places = reflector.locate(listeners);
      for (const [index, listener] of listeners.entries()) {
        const url = places[index]?.url ?? '';
        if (FILE.test(url) && !OF_DRIVER.test(url)) replace(client, event, listener);
      }
    }
  }
}

/** One is left in its place: an `error` that nobody listens to is thrown. */
function replace(client: EventEmitter, event: string | symbol, listener: unknown): void {
  if (typeof listener !== 'function') return;
  client.removeListener(event, listener as () => void);
  client.on(event, () => {});
}

/** Some packages copy the methods, so that the class says nothing. */
function isEmitter(client: object): client is EventEmitter {
  const methods = ['eventNames', 'listeners', 'removeListener', 'on'];
  return client instanceof EventEmitter || methods.every((name) => typeof Reflect.get(client, name) === 'function');
}
