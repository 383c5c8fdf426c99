/**
 * Inside a replica: clients that are connected here tell the app's listeners nothing of it.
 *
 * Reads: clients, and where their listeners stand in the source.
 * Gives: the same clients, whose listeners of the app's do nothing any more. What happens to a connection, home's own client tells
 *        at home; told once more here, it would be printed and counted twice.
 */
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StartManifest } from '../flx/run-manifest.js';
import type { Reflector } from './link/reflect.js';

export function quietClients(clients: readonly object[], { modules }: StartManifest, reflector: Reflector): void {
  const own = new Set(modules.map(({ source }) => source));
  const isOwn = (url: string): boolean =>
    own.has(url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/s, '')) : url);
  for (const client of clients) {
    if (!isEmitter(client)) continue;
    for (const event of client.eventNames()) {
      const listeners = client.listeners(event);
      const places = reflector.locate(listeners);
      for (const [index, listener] of listeners.entries())
        if (isOwn(places[index]?.url ?? '')) replace(client, event, listener);
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
