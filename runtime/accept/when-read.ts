/**
 * Calls when this loop has read all that had come to its connections by now. Whoever closes those that wait for their next request before
 * that closes some whose request is there, and nobody answers it.
 */
import timers from 'node:timers';

// As they were before start-up: the firewall stands before them later.
const { setImmediate } = timers;

export function whenRead(then: () => void): void {
  // The first one ends the turn that goes on now, some of which has been read before; the second one a whole turn.
  setImmediate(() => setImmediate(then));
}
