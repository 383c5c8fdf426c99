/**
 * The exchanges that a replica has with home.
 *
 * Reads:   variables that come from home or go there, in which requests, responses and `next` may occur.
 * Gives:   stand-ins where home names its own; names where they go back, with their state before them.
 * Reports: CannotTravel, as the codec does.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { CannotTravel, decode, type Encoded, encode, type Refs } from '../codec.js';
import { isPartName } from './home-table.js';
import type { Envelope, ExchangeId, PartName, ToHome, ToReplica, Variables } from './messages.js';
import type { AppNames } from './names.js';
import { openExchange, type ReplicaExchange } from './replica-exchange.js';

type Send = (message: ToHome, transfer: ArrayBuffer[]) => void;

export class ReplicaTable {
  readonly #open = new Map<ExchangeId, ReplicaExchange>();

  constructor(
    readonly app: AppNames,
    readonly send: Send,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  open(envelope: Envelope): ReplicaExchange {
    const known = this.#open.get(envelope.id);
    if (known !== undefined) {
      known.refresh(envelope);
      return known;
    }
    const { app, send } = this;
    const exchange = openExchange(envelope, { app, send, closed: (id) => void this.#open.delete(id) });
    this.#open.set(exchange.id, exchange);
    return exchange;
  }

  receive(message: ToReplica): void {
    this.#open.get(message.id)?.receive(message);
  }

  decode({ encoded, envelopes }: Variables): unknown {
    const opened = envelopes.map((envelope) => this.open(envelope));
    return decode(encoded, { nameOf: () => undefined, thingOf: (name) => this.#thingOf(name, opened) });
  }

  #thingOf(name: unknown, opened: readonly ReplicaExchange[]): unknown {
    if (!isPartName(name)) return this.app.thingOf(String(name));
    if (typeof name.part === 'number') return this.#next(name.part, opened[0]);
    const exchange = this.#open.get(name.exchange);
    if (exchange === undefined) throw new CannotTravel(name.part, 'its exchange is over');
    return exchange[name.part];
  }

  #next(which: number, exchange: ReplicaExchange | undefined): unknown {
    if (exchange === undefined) throw new CannotTravel('next', 'its exchange is over');
    return exchange.nextNamed(which);
  }

  /** What is done with stand-ins in `value` until now is sent before this returns. */
  encode(value: unknown, path: string): Encoded {
    const used = new Set<ReplicaExchange>();
    const encoded = encode(value, this.#names(used), path);
    for (const exchange of used) exchange.handBack();
    return encoded;
  }

  #names(used: Set<ReplicaExchange>): Refs {
    return {
      nameOf: (thing) => {
        const found = this.#partOf(thing);
        if (found === undefined) return this.app.nameOf(thing);
        used.add(found.exchange);
        return found.name;
      },
      thingOf: () => undefined,
    };
  }

  /** Few are open at a time, and few variables are asked for: a mark on each stand-in would cost more. */
  #partOf(thing: object): { readonly exchange: ReplicaExchange; readonly name: PartName } | undefined {
    if (!(thing instanceof IncomingMessage || thing instanceof ServerResponse || typeof thing === 'function'))
      return undefined;
    for (const exchange of this.#open.values()) {
      const part = exchange.partOf(thing);
      if (part !== undefined) return { exchange, name: { exchange: exchange.id, part } };
    }
    return undefined;
  }
}
