/**
 * Reads: a server that listens.
 * Gives: what another loop needs to serve its connections as it does; a text where it is not an everyday HTTP or HTTPS server: of
 *        another class, with listeners of its own for connections, with a limit of connections.
 */
import type { Server, ServerOptions } from 'node:http';
import type https from 'node:https';
import builtin from '../builtin.cjs';
import fastPath from '../fast-path/born-as-express.cjs';
import { http } from '../node-http.js';
import process from '../node-process.cjs';
import { isSecureOption, type SecureSettings, secureSettingsOf } from './secure-settings.js';

export interface ServerSettings {
  readonly plain: { readonly [name: string]: number | boolean | null | undefined };
  /** Null without TLS. */
  readonly secure: SecureSettings | null;
}

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

/** As they are without options. */
const sample: { http?: Server; https?: https.Server } = {};

/** Whoever is one has loaded that module. */
export function isHttps(server: Server): server is https.Server {
  return '_sharedCreds' in server && Object.getPrototypeOf(server) === httpsModule().Server.prototype;
}

const httpsModule = (): typeof https => builtin.getBuiltin('node:https');

export function settingsOf(server: Server): ServerSettings | string {
  const isSecure = isHttps(server);
  if (!isSecure && Object.getPrototypeOf(server) !== http.Server.prototype) return 'it is of a class of its own';
  const plain = isSecure ? (sample.https ??= new (httpsModule().Server)()) : (sample.http ??= new http.Server());
  const settings: Record<string, number | boolean | null | undefined> = {};
  for (const [name, found] of Object.entries(Object.getOwnPropertyDescriptors(server))) {
    // Methods that Fluxion watches are looked up through getters.
    if (OWN.has(name) || !('value' in found) || (isSecure && isSecureOption(name))) continue;
    const { value }: { value?: unknown } = found;
    if (isPlain(value)) settings[name] = value;
    else if (String(value) !== String(Reflect.get(plain, name))) return `its "${name}" is its own`;
  }
  if (settings.maxConnections !== undefined || settings.dropMaxConnection !== undefined)
    return 'it limits its connections';
  for (const symbol of Object.getOwnPropertySymbols(server)) {
    if (!CLASSES.includes(symbol.description ?? '')) continue;
    const found: unknown = Reflect.get(server, symbol);
    if (found !== Reflect.get(http, symbol.description ?? '') && !fastPath.isOurs(found))
      return `its "${symbol.description}" is its own`;
  }
  for (const event of server.eventNames()) {
    if (HEARD_AT_HOME.has(String(event)) || HEARD_IN_PART.has(String(event))) continue;
    if (server.listenerCount(event) !== plain.listenerCount(event)) return `it listens to "${String(event)}"`;
  }
  const secure = isSecure ? secureSettingsOf(server) : null;
  return typeof secure === 'string' ? secure : { plain: settings, secure };
}

/** Of the same kind, with the same settings. */
export function serverWith({ plain, secure }: ServerSettings): Server {
  const server = secure === null ? new http.Server({ ...plain } as ServerOptions) : secureServer(plain, secure);
  for (const [name, value] of Object.entries(plain)) Reflect.set(server, name, value);
  return server;
}

function secureServer(plain: ServerSettings['plain'], { options, ticketKeys }: SecureSettings): https.Server {
  const server = new (httpsModule().Server)({ ...plain, ...options } as https.ServerOptions);
  server.setTicketKeys(Buffer.from(ticketKeys));
  return server;
}

/** From now on, for new connections. */
export function renew(server: https.Server, { options, ticketKeys }: SecureSettings): void {
  server.setSecureContext(options);
  server.setTicketKeys(Buffer.from(ticketKeys));
}

function isPlain(value: unknown): value is number | boolean | null | undefined {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean';
}
