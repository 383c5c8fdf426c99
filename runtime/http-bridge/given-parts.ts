/**
 * Reads: what an envelope says of a request and its response.
 * Gives: their properties on stand-ins; what was changed there since; and where home has what it gave.
 */
import type { IncomingMessage } from 'node:http';
import { Encoder, type Refs } from '../codec.js';
import { ChangeList, type Path } from './changes.js';
import { headersIntact } from './headers.js';
import type { Changes, Envelope, ObjectChanges } from './messages.js';
import { follow, type Parts } from './names.js';
import { type Fail, Given, type Looking, type RealObject } from './properties.js';
import type { StandInSocket } from './stand-in-socket.js';

interface StandIns extends Parts {
  readonly req: IncomingMessage;
  readonly socket: StandInSocket;
}

export class GivenParts {
  readonly #standIns: StandIns;
  readonly #req: Given;
  readonly #res: Given;
  /** Null: the handler is called with nothing more. */
  readonly #args: Given | null;
  readonly #stores: Given | null;
  #headers: { readonly [name: string]: unknown } | null;
  /** Null: not asked for since something was changed. */
  #paths: Map<object, Path> | null = null;
  /** Paths of before are found at home, whatever is moved. */
  #isComparing = false;
  readonly #refs: Refs;

  constructor(
    standIns: StandIns,
    envelope: Envelope,
    refs: Refs,
    fail: Fail,
    real: (part: 'req' | 'res') => RealObject | null,
  ) {
    this.#standIns = standIns;
    this.#refs = refs;
    this.#req = Given.put(standIns.req, 'req', envelope.req, refs, fail, real('req'));
    this.#res = Given.put(standIns.res, 'res', envelope.res, refs, fail, real('res'));
    this.#args = envelope.args && Given.put(standIns.args ?? {}, 'args', envelope.args, refs, fail, null);
    this.#stores = envelope.stores && Given.put(standIns.stores ?? {}, 'stores', envelope.stores, refs, fail, null);
    this.#headers = envelope.headers === null ? null : { ...envelope.headers };
  }

  renew({ req, res }: Envelope): void {
    this.#req.renew(req);
    this.#res.renew(res);
    this.#paths = null;
  }

  /** Where home finds something that it has given, if it is still where it was. */
  pathOf(thing: object): Path | undefined {
    if (this.#paths === null) {
      this.#paths = new Map();
      this.#req.indexPaths(this.#paths);
      this.#res.indexPaths(this.#paths);
      this.#args?.indexPaths(this.#paths);
      this.#stores?.indexPaths(this.#paths);
    }
    const path = this.#paths.get(thing);
    if (path === undefined || this.#isComparing) return path;
    return follow(this.#standIns, path, this.#refs) === thing ? path : undefined;
  }

  /** Since the last time. */
  changes(refs: Refs, looking: Looking): Changes | null {
    const encoder = new Encoder(refs);
    this.#paths = null;
    this.#isComparing = true;
    const req = this.#req.changes(encoder, looking);
    const res = this.#res.changes(encoder, looking);
    const args = this.#args?.changes(encoder, looking) ?? null;
    const stores = this.#stores?.changes(encoder, looking) ?? null;
    const socket = this.#putOnSocket(encoder, looking);
    this.#isComparing = false;
    this.#paths = null;
    this.#req.accept(req);
    this.#res.accept(res);
    this.#args?.accept(args);
    this.#stores?.accept(stores);
    const reqHeaders = this.#changedHeaders();
    const isSame = [req, res, args, stores, socket, reqHeaders].every((each) => each === null);
    if (isSame) return null;
    return { req, res, args, stores, socket, reqHeaders, fixes: encoder.fixes };
  }

  #putOnSocket(encoder: Encoder, { lose }: Looking): ObjectChanges | null {
    const { socket } = this.#standIns;
    const names = socket.takePut();
    if (names.length === 0) return null;
    const list = new ChangeList(encoder, 'req.socket', lose, socket.real, false);
    for (const name of names) list.set([name], Reflect.get(socket, name));
    return list.changes;
  }

  #changedHeaders(): { readonly [name: string]: unknown } | null {
    const { headers } = this.#standIns.req;
    const before = this.#headers;
    if (before === null && headersIntact(this.#standIns.req)) return null;
    if (before !== null && sameEntries(before, headers)) return null;
    this.#headers = { ...headers };
    return this.#headers;
  }
}

function sameEntries(before: { readonly [name: string]: unknown }, now: { readonly [name: string]: unknown }): boolean {
  const names = Object.keys(now);
  return names.length === Object.keys(before).length && names.every((name) => before[name] === now[name]);
}
