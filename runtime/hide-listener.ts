/**
 * Reads: an emitter that the app has, too: `process`.
 * Gives: a way to listen there unseen. Who counts listeners takes decisions by it: packages that tidy up on a signal end the
 *        process themselves where nobody but them listens, and leave it to the others where there are any.
 */
import { EventEmitter } from 'node:events';

const { prototype } = EventEmitter;
const hidden = new WeakMap<EventEmitter, Map<string | symbol, Set<unknown>>>();

/** What tells of the emitter's listeners leaves this one out from now on. */
export function hideListener(emitter: EventEmitter, event: string | symbol, listener: unknown): void {
  let events = hidden.get(emitter);
  if (events === undefined) {
    hidden.set(emitter, (events = new Map()));
    cover(emitter, events);
  }
  const known = events.get(event);
  if (known === undefined) events.set(event, new Set([listener]));
  else known.add(listener);
}

function cover(emitter: EventEmitter, events: ReadonlyMap<string | symbol, ReadonlySet<unknown>>): void {
  const isSeen = (event: string | symbol, listener: unknown): boolean => events.get(event)?.has(listener) !== true;
  const listenerCount = (event: string | symbol, ...only: never[]): number => {
    const count = prototype.listenerCount.call(emitter, event, ...only);
    if (only.length > 0 || !events.has(event)) return count;
    return prototype.rawListeners.call(emitter, event).filter((each) => isSeen(event, each)).length;
  };
  const told = {
    listenerCount,
    listeners: (event: string | symbol) =>
      prototype.listeners.call(emitter, event).filter((each) => isSeen(event, each)),
    rawListeners: (event: string | symbol) =>
      prototype.rawListeners.call(emitter, event).filter((each) => isSeen(event, each)),
    eventNames: () => prototype.eventNames.call(emitter).filter((event) => listenerCount(event) > 0),
  };
  for (const [name, value] of Object.entries(told))
    Object.defineProperty(emitter, name, { value, configurable: true, writable: true });
}
