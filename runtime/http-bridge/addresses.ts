/**
 * Reads: a connection at home, or where it was accepted.
 * Gives: the addresses of both its ends, asked for in such a way that nobody notices. Node keeps the other end's once it was asked
 *        for, and only then has one to tell when the connection is gone.
 */
import type { Socket } from 'node:net';

export interface Addresses {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly remoteFamily: string | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly localFamily: string | undefined;
}

/** One end, as Node keeps it; of a connection that is gone, nothing. */
export interface Address {
  readonly address?: string | undefined;
  readonly port?: number | undefined;
  readonly family?: string | undefined;
}

/** The one that is added last comes first: taken away in that order they leave the object as it was to V8 as well. */
const KEPT = ['_sockname', '_peername'] as const;

export function addressesOf(socket: Socket): Addresses {
  const added = KEPT.filter((name) => !Object.hasOwn(socket, name));
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily } = socket;
  for (const name of added) Reflect.deleteProperty(socket, name);
  return { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily };
}

/** The app has asked for the other end's. */
export function isAsked(socket: Socket): boolean {
  return Reflect.get(socket, '_peername') !== undefined;
}
