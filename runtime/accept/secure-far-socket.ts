/**
 * Reads: on a replica, a TLS connection.
 * Gives: what it says of itself; at home, a socket that says the same. Clients have shown no certificates (secure-settings.ts).
 */
import type tls from 'node:tls';
import builtin from '../builtin.cjs';
import type { FarPeer } from '../messages.js';
import { FarSocket } from './far-socket.js';

type Secure = NonNullable<FarPeer['secure']>;

const FIELDS = ['encrypted', 'authorized', 'authorizationError', 'alpnProtocol', 'servername'] as const;
const METHODS = [
  ...['getCipher', 'getProtocol', 'getEphemeralKeyInfo', 'getSharedSigalgs', 'getFinished', 'getPeerFinished'],
  ...['getSession', 'getTLSTicket', 'isSessionReused', 'getCertificate', 'getX509Certificate'],
  ...['getPeerCertificate', 'getPeerX509Certificate'],
] as const;

/** Null where it is none. */
export function secureFactsOf(socket: object): FarPeer['secure'] {
  if (Reflect.get(socket, 'encrypted') !== true) return null;
  const fields = Object.fromEntries(FIELDS.map((name) => [name, Reflect.get(socket, name)]));
  const methods = Object.fromEntries(METHODS.map((name) => [name, resultOf(socket, name)]));
  return { fields, methods };
}

function resultOf(socket: object, name: string): unknown {
  const method: unknown = Reflect.get(socket, name);
  return typeof method === 'function' ? Reflect.apply(method, socket, []) : undefined;
}

/** To `instanceof` and to whoever looks for its methods it is a socket of TLS. */
export function secureFarSocket(made: ConstructorParameters<typeof FarSocket>, { fields, methods }: Secure): FarSocket {
  const socket: FarSocket = Reflect.construct(FarSocket, made, (secureClass ??= makeClass()));
  Object.assign(socket, fields);
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(socket, name, { value: () => value, configurable: true, writable: true });
  }
  return socket;
}

let secureClass: new () => FarSocket;

/** As a class: TLS is loaded where a server uses it only. */
function makeClass(): typeof secureClass {
  const { TLSSocket }: typeof tls = builtin.getBuiltin('node:tls');
  const made = function TLSSocket_(): void {} as unknown as typeof secureClass;
  made.prototype = Object.create(TLSSocket.prototype, {
    ...Object.getOwnPropertyDescriptors(FarSocket.prototype),
    constructor: { value: TLSSocket, configurable: true, writable: true },
  });
  return made;
}
