/**
 * The exchanges that home has with one replica.
 *
 * Reads:   variables that go to the replica or come from it, in which requests, responses and `next` may occur.
 * Gives:   the exchanges for them; the real ones where the replica names them.
 * Reports: CannotTravel, as the codec does.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { CannotTravel, decode, type Encoded, encode, type Refs } from '../codec.js';
import { HomeExchange, type Outcome } from './home-exchange.js';
import type { Envelope, ExchangeId, PartName, ToHome, ToReplica, Variables } from './messages.js';
import type { AppNames } from './names.js';
import type { Below } from './stack.js';

export interface Opening {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: unknown;
  readonly below: Below | null;
  settle(outcome: Outcome): void;
}

export class HomeTable {
  readonly #open = new Map<ExchangeId, HomeExchange>();
  readonly #byResponse = new WeakMap<object, HomeExchange>();
  #lastId = 0;
  #lastNext = 0;

  constructor(
    readonly app: AppNames,
    readonly send: (message: ToReplica) => void,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  /** What is open when the replica goes away. */
  exchanges(): Iterable<HomeExchange> {
    return this.#open.values();
  }

  /** For a handler that is to run at the replica; its envelope has to be sent. */
  open(opening: Opening): HomeExchange {
    const id = ++this.#lastId;
    const exchange = new HomeExchange({
      ...opening,
      id,
      app: this.app,
      send: this.send,
      settle: (outcome) => opening.settle(outcome),
      closed: () => void this.#open.delete(id),
    });
    this.#open.set(id, exchange);
    this.#byResponse.set(opening.res, exchange);
    return exchange;
  }

  receive(message: ToHome): void {
    this.#open.get(message.id)?.receive(message);
  }

  /** `settle` is told of what comes of stand-ins that are opened for this. */
  encode(value: unknown, path: string, settle: (outcome: Outcome) => void): Variables {
    const names = new NamesAtHome(this, settle);
    if (typeof value === 'object' && value !== null) names.look(Object.values(value));
    const opened = encodeOrClose(value, path, names);
    names.bindNexts();
    return { encoded: opened, envelopes: names.envelopes };
  }

  decode(encoded: Encoded): unknown {
    return decode(encoded, { nameOf: () => undefined, thingOf: (name) => this.thingOf(name) });
  }

  thingOf(name: unknown): unknown {
    if (!isPartName(name)) return this.app.thingOf(String(name));
    const exchange = this.#open.get(name.exchange);
    if (exchange === undefined) throw new CannotTravel(String(name.part), 'its exchange is over');
    if (typeof name.part === 'number') return exchange.nextOf(name.part);
    return exchange.side[name.part];
  }

  ofResponse(res: ServerResponse): HomeExchange | undefined {
    const found = this.#byResponse.get(res);
    return found?.done === true ? undefined : found;
  }

  nextNumber(): number {
    return ++this.#lastNext;
  }
}

/** Nothing stays open for variables that cannot travel. */
function encodeOrClose(value: unknown, path: string, names: NamesAtHome): Encoded {
  try {
    return encode(value, names, path);
  } catch (error) {
    names.close();
    throw error;
  }
}

/** For one message. */
class NamesAtHome implements Refs {
  readonly #used = new Map<HomeExchange, Envelope>();
  readonly #opened: HomeExchange[] = [];
  readonly #responses = new Map<IncomingMessage, ServerResponse>();
  readonly #nexts: { readonly which: number; readonly next: unknown }[] = [];

  constructor(
    readonly table: HomeTable,
    readonly settle: (outcome: Outcome) => void,
  ) {}

  get envelopes(): readonly Envelope[] {
    return [...this.#used.values()];
  }

  /** A request of Node does not know its response, but the response does. */
  look(variables: readonly unknown[]): void {
    for (const res of variables) if (res instanceof ServerResponse) this.#responses.set(res.req, res);
  }

  close(): void {
    for (const exchange of this.#opened) exchange.restore();
  }

  nameOf(thing: object): unknown {
    if (thing instanceof ServerResponse) return this.#part(thing, 'res');
    if (thing instanceof IncomingMessage) {
      const res: unknown = this.#responses.get(thing) ?? Reflect.get(thing, 'res');
      return res instanceof ServerResponse ? this.#part(res, 'req') : undefined;
    }
    const name = this.table.app.nameOf(thing);
    if (name !== undefined) return name;
    return typeof thing === 'function' && isNext(thing) ? this.#next(thing) : undefined;
  }

  thingOf(name: unknown): unknown {
    return this.table.thingOf(name);
  }

  #part(res: ServerResponse, part: 'req' | 'res'): PartName {
    const exchange = this.table.ofResponse(res) ?? this.#openFor(res);
    if (!this.#used.has(exchange)) {
      const isNew = this.#opened.includes(exchange);
      this.#used.set(exchange, isNew ? exchange.envelope : exchange.packAgain());
    }
    return { exchange: exchange.side.id, part };
  }

  #openFor(res: ServerResponse): HomeExchange {
    const { settle } = this;
    const exchange = this.table.open({ req: res.req, res, next: null, below: null, settle });
    this.#opened.push(exchange);
    return exchange;
  }

  /** Which exchange it belongs to shows when all are known. */
  #next(next: object): PartName {
    const known = this.#nexts.find((item) => item.next === next);
    const which = known?.which ?? this.table.nextNumber();
    if (known === undefined) this.#nexts.push({ which, next });
    return { exchange: 0, part: which };
  }

  bindNexts(): void {
    if (this.#nexts.length === 0) return;
    const [exchange, another] = this.#used.keys();
    if (exchange === undefined || another !== undefined) {
      this.close();
      throw new CannotTravel('next', 'it cannot be told which request it belongs to');
    }
    for (const { which, next } of this.#nexts) exchange.addNext(which, next);
  }
}

/** What Express 3, 4 and 5 call the functions by which they go on. */
const NEXT_NAMES: ReadonlySet<string> = new Set(['next', 'callbacks', 'pass', 'param', 'paramCallback']);

function isNext(thing: object): boolean {
  return typeof thing === 'function' && thing.length === 1 && NEXT_NAMES.has(thing.name);
}

export function isPartName(name: unknown): name is PartName {
  return typeof name === 'object' && name !== null && 'exchange' in name && 'part' in name;
}
