/**
 * Reads: an HTTPS server that listens.
 * Gives: what another loop needs to speak TLS as it does, its keys for session tickets as well: sessions that one loop began another one goes on
 *        with. A text where that cannot be told: functions of the app decide, clients show certificates, the data makes another
 *        certificate than the one that is in use.
 */
import type https from 'node:https';
import type tls from 'node:tls';
import builtin from '../builtin.cjs';

export interface SecureSettings {
  readonly options: { readonly [name: string]: unknown };
  readonly ticketKeys: Uint8Array;
}

/** Their values are given to another server's constructor as they are. */
const DATA = new Set([
  ...[
    'pfx',
    'key',
    'passphrase',
    'cert',
    'ca',
    'crl',
    'dhparam',
    'ecdhCurve',
    'ciphers',
    'sigalgs',
    'honorCipherOrder',
  ],
  ...['minVersion', 'maxVersion', 'secureProtocol', 'secureOptions', 'sessionIdContext', 'sessionTimeout'],
  ...['ALPNProtocols', 'allowPartialTrustChain', 'certificateCompression'],
]);
/** What Node keeps of options under symbols, and who decides there if it is set. */
const BY_SYMBOL: { readonly [description: string]: string } = {
  snicallback: 'a function of the app chooses certificates',
  pskcallback: 'a function of the app knows keys',
  pskidentityhint: 'keys are agreed beforehand',
  enableTrace: 'its handshakes are printed',
};
const BY_NAME: { readonly [name: string]: string } = {
  requestCert: 'it asks clients for certificates',
  ALPNCallback: 'a function of the app chooses protocols',
  clientCertEngine: 'an engine of OpenSSL has its keys',
  privateKeyEngine: 'an engine of OpenSSL has its keys',
  privateKeyIdentifier: 'an engine of OpenSSL has its keys',
};

const OTHERS = new Set(['_contexts', '_sharedCreds', 'ticketKeys']);

/** Of options that TLS has and HTTP has not. */
export function isSecureOption(name: string): boolean {
  return DATA.has(name) || name in BY_NAME || OTHERS.has(name);
}

export function secureSettingsOf(server: https.Server): SecureSettings | string {
  for (const [name, why] of Object.entries(BY_NAME)) if (isGiven(Reflect.get(server, name))) return why;
  const options: Record<string, unknown> = {};
  for (const symbol of Object.getOwnPropertySymbols(server)) {
    const [name, value] = [symbol.description ?? '', Reflect.get(server, symbol)];
    const why = BY_SYMBOL[name];
    if (why !== undefined && isGiven(value)) return why;
    if (name === 'handshake-timeout') options.handshakeTimeout = value;
  }
  const contexts: unknown = Reflect.get(server, '_contexts');
  if (!Array.isArray(contexts) || contexts.length > 0) return 'it has certificates for several names';
  for (const name of DATA) {
    const value: unknown = Reflect.get(server, name);
    if (!isData(value)) return `its "${name}" is no data`;
    if (value !== undefined && value !== null) options[name] = value;
  }
  if (!isMadeOf(server, options)) return 'its certificate is another one by now';
  return { options, ticketKeys: server.getTicketKeys() };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function isData(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.values(value).every(isData);
}

interface Context {
  getCertificate(): unknown;
  getMinProto(): number;
  getMaxProto(): number;
}

/** Buffers may have been changed since, as some do with keys. A key that does not go with the certificate makes Node throw. */
function isMadeOf(server: https.Server, options: object): boolean {
  const here = contextOf(Reflect.get(server, '_sharedCreds'));
  if (here === null) return false;
  const known = made.get(here);
  if (known !== undefined) return known;
  const { createSecureContext }: typeof tls = builtin.getBuiltin('node:tls');
  let isSame = false;
  try {
    const other = contextOf(createSecureContext(options));
    isSame = other !== null && printOf(here) === printOf(other);
  } catch {
    isSame = false;
  }
  made.set(here, isSame);
  return isSame;
}

/** By the context that is in use. */
const made = new WeakMap<Context, boolean>();

function contextOf(secure: unknown): Context | null {
  const { context }: { readonly context?: unknown } = Object(secure);
  if (typeof context !== 'object' || context === null || !('getCertificate' in context)) return null;
  return 'getMinProto' in context && 'getMaxProto' in context ? (context as Context) : null;
}

function printOf(context: Context): string {
  const certificate = context.getCertificate();
  const text = Buffer.isBuffer(certificate) ? certificate.toString('base64') : String(certificate);
  return `${text} ${context.getMinProto()} ${context.getMaxProto()}`;
}
