/**
 * Reads: a connection of a server, between two requests.
 * Gives: whether it is as Node has made it. What an app has put on it, or listens to there, would be lost if the connection moved to
 *        another loop, where it is another object.
 */
import net from 'node:net';
import { http } from '../node-http.js';

interface Shape {
  readonly keys: ReadonlySet<string | symbol>;
  readonly listeners: ReadonlyMap<string | symbol, number>;
}

/** Node adds these while it serves requests. */
const LATER = [
  '_httpMessage',
  'timeout',
  'server',
  '_server',
  '_peername',
  '_sockname',
  '_pendingData',
  '_pendingEncoding',
];

let fresh: Shape | null = null;

export function isUntouched(socket: net.Socket): boolean {
  fresh ??= shapeOfFresh();
  for (const key of Reflect.ownKeys(socket)) if (!fresh.keys.has(key)) return false;
  for (const event of socket.eventNames()) {
    const others = socket.rawListeners(event).filter((listener) => !ofFluxion.has(listener));
    if (others.length > (fresh.listeners.get(event) ?? 0)) return false;
  }
  return true;
}

const ofFluxion = new WeakSet<object>();

/** For Fluxion itself. */
export function whenClosed(socket: net.Socket, act: () => void): void {
  ofFluxion.add(act);
  socket.on('close', act);
}

/** Of one that leads nowhere. */
function shapeOfFresh(): Shape {
  const server = http.createServer();
  const socket = new net.Socket();
  server.emit('connection', socket);
  socket.setTimeout(1);
  socket.setTimeout(0);
  const keys = new Set<string | symbol>([...Reflect.ownKeys(socket), ...LATER]);
  const listeners = new Map(socket.eventNames().map((event) => [event, socket.listenerCount(event)] as const));
  socket.destroy();
  server.close();
  return { keys, listeners };
}
