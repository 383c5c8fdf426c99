/**
 * Reads: a server that listens.
 * Gives: what another loop needs to serve its connections as it does; null where it is not an everyday HTTP server: of
 *        another class, with listeners of its own for connections or upgrades, with a limit of connections.
 */
import type { Server, ServerOptions } from 'node:http';
import process from 'node:process';
import fastPath from '../fast-path/born-as-express.cjs';
import { http } from '../node-http.js';

export type ServerSettings = { readonly [name: string]: number | boolean | null | undefined };

/** What a server keeps for itself, and what belongs to this loop. */
const OWN = new Set([
  '_events',
  '_eventsCount',
  '_maxListeners',
  '_connections',
  '_handle',
  '_usingWorkers',
  '_workers',
  '_unref',
  '_listeningId',
  '_connectionKey',
  'listeningId',
]);
/** Of these the app's listeners hear at home. */
const HEARD_AT_HOME = new Set(['request', 'listening', 'close', 'error']);
/** These as well, where home gets all requests that may come to one of them. */
const HEARD_IN_PART = new Set(['upgrade', 'connect']);
const CLASSES = ['IncomingMessage', 'ServerResponse'];

/** Some requests of a connection may be served on one loop, some on another: nobody counts them, and nobody reads them otherwise than they are written. */
export function canBeSplit(server: Server): boolean {
  const isLenient =
    Reflect.get(server, 'insecureHTTPParser') === true ||
    LENIENT.test([process.env.NODE_OPTIONS, ...process.execArgv].join(' '));
  return !((server.maxRequestsPerSocket ?? 0) > 0) && !isLenient;
}

const LENIENT = /--insecure-http-parser/;

/** Requests that ask for another protocol are home's where somebody listens to them. */
export function isForUpgrades(server: Server): boolean {
  return [...HEARD_IN_PART].some((event) => server.listenerCount(event) > 0);
}

export function settingsOf(server: Server): ServerSettings | null {
  if (Object.getPrototypeOf(server) !== http.Server.prototype) return null;
  const plain = new http.Server();
  const settings: Record<string, number | boolean | null | undefined> = {};
  for (const [name, found] of Object.entries(Object.getOwnPropertyDescriptors(server))) {
    // Methods that Fluxion watches are looked up through getters.
    if (OWN.has(name) || !('value' in found)) continue;
    const { value }: { value?: unknown } = found;
    if (isPlain(value)) settings[name] = value;
    else if (String(value) !== String(Reflect.get(plain, name))) return null;
  }
  if (settings.maxConnections !== undefined || settings.dropMaxConnection !== undefined) return null;
  for (const symbol of Object.getOwnPropertySymbols(server)) {
    if (!CLASSES.includes(symbol.description ?? '')) continue;
    const found: unknown = Reflect.get(server, symbol);
    if (found !== Reflect.get(http, symbol.description ?? '') && !fastPath.isOurs(found)) return null;
  }
  for (const event of server.eventNames()) {
    if (HEARD_AT_HOME.has(String(event)) || HEARD_IN_PART.has(String(event))) continue;
    if (server.listenerCount(event) !== plain.listenerCount(event)) return null;
  }
  return settings;
}

/** Of the same kind, with the same settings. */
export function serverWith(settings: ServerSettings): Server {
  const server = new http.Server({ ...settings } as ServerOptions);
  for (const [name, value] of Object.entries(settings)) Reflect.set(server, name, value);
  return server;
}

function isPlain(value: unknown): value is number | boolean | null | undefined {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean';
}
