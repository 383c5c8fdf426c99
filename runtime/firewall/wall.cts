/**
 * Reads:   the record of home's start-up, and what the app calls in this thread.
 * Gives:   the state of the firewall that all its parts share: is it up, what was stopped, what home did at this place.
 */
import crypto = require('node:crypto');
import callSites = require('./call-site.cjs');
import codec = require('./outcome-codec.cjs');
import table = require('./table.cjs');

import type {
  Blocked,
  EffectKind,
  FirewallOptions,
  LiftHooks,
  Miss,
  Outcome,
  StartupRecord,
} from './startup-record.cjs';

type Fn = (this: unknown, ...args: unknown[]) => unknown;
// biome-ignore lint/complexity/noBannedTypes: whatever is on the stack
type OnStack = Function;
type Site = ReturnType<typeof callSites.readCallSite>;

/** Nobody needs so many at a time. */
const SMALLEST_POOL = 128;

class Wall {
  /** Start-up is going on, or over and not yet lifted. */
  up = true;
  /** Our own code is running: its calls are real. */
  passing = 0;
  hooks: LiftHooks | null = null;
  isArmed = false;
  /** Calls that go on in another thread of Node's and will call back. */
  pending = 0;
  /** Files that this thread has really opened, to read. */
  readonly opened = new Set<unknown>();
  readonly blocked: Blocked[] = [];
  readonly misses: Miss[] = [];
  readonly #notes = new Set<string>();
  readonly #used = new Map<string, number>();
  readonly #record: StartupRecord;
  readonly #options: FirewallOptions;
  readonly #end: () => never;
  readonly #pools = new Set<ArrayBufferView>();
  #reason: string | null = null;
  #unconnected = false;
  #listener: ((reason: string, isUnconnected: boolean) => void) | null = null;

  /** Is it a package that connects, and does nothing else, which made the call? */
  connects: (site: Site) => boolean = () => false;

  constructor(record: StartupRecord, options: FirewallOptions, end: () => never) {
    this.#record = record;
    this.#options = options;
    this.#end = end;
  }

  get stops(): boolean {
    return this.up && this.passing === 0;
  }

  outside<T>(work: () => T): T {
    this.passing += 1;
    try {
      return work();
    } finally {
      this.passing -= 1;
    }
  }

  site(above: OnStack): Site {
    return this.outside(() => callSites.readCallSite(above as Fn));
  }

  /** Node's module loader made the call; nothing is said of calls that only seem to be somebody else's. */
  isByLoader(above: OnStack): boolean {
    return this.outside(() => callSites.isByLoader(above as Fn));
  }

  /** Once for each place: a loop adds nothing. */
  note(what: string, { at, file, package: name }: Site): void {
    if (!this.#isNew(`blocked ${what} ${at} ${file} ${name}`)) return;
    const repeatable = name !== null && this.#options.repeatable?.(name) === true;
    this.blocked.push({ package: name, module: file, what, at, repeatable });
  }

  miss(what: string, { at, file }: Site, answer: Miss['answer']): void {
    if (this.#isNew(`miss ${what} ${at} ${file}`)) this.misses.push({ what, at, answer });
  }

  #isNew(note: string): boolean {
    if (this.#notes.has(note)) return false;
    this.#notes.add(note);
    return true;
  }

  allowsAddon(name: string | null, file: string): boolean {
    return this.#options.addon?.(name, file) === true;
  }

  /** What home got from this call; each result is given out once. */
  next(callee: string, { key }: Site): Outcome | undefined {
    const place = `${callee}|${key}`;
    const list = this.#record.calls.get(place);
    const index = this.#used.get(place) ?? 0;
    const outcome = list?.[index];
    if (outcome !== undefined) this.#used.set(place, index + 1);
    return outcome;
  }

  /** The record has no more of this: asking it would only hold up a program that asks often. */
  isExhausted(callee: string): boolean {
    return this.#record.exhausted.includes(callee);
  }

  listensAt({ key }: Site): unknown {
    const place = `listen|${key}`;
    const index = this.#used.get(place) ?? 0;
    this.#used.set(place, index + 1);
    const address = this.#record.listens.get(key)?.[index];
    return address === undefined ? null : codec.decode(address);
  }

  /**
   * Packages that make ids ask for more random bytes than they need, and keep the rest for the next ones. What is left of that
   * when start-up is over has to be this thread's own: two that had the same would make the same ids.
   */
  pools(given: unknown, { package: name }: Site): void {
    if (name !== null && ArrayBuffer.isView(given) && given.byteLength >= SMALLEST_POOL) this.#pools.add(given);
  }

  refill(): void {
    for (const { buffer, byteOffset, byteLength } of this.#pools)
      crypto.randomFillSync(new Uint8Array(buffer, byteOffset, byteLength));
    this.#pools.clear();
  }

  /** Ends the thread: what start-up would go on with is unknown here. */
  giveUp(reason: string): never {
    this.#reason ??= reason;
    this.passing += 1;
    this.#listener?.(this.#reason, this.#unconnected);
    return this.#end();
  }

  /** Home is connected, and this one is not: perhaps it can do without. */
  notConnected(name: string, error: unknown): never {
    this.#unconnected = true;
    return this.giveUp(`${name} could not connect: ${error instanceof Error ? error.message : String(error)}`);
  }

  onGivenUp(listener: (reason: string, isUnconnected: boolean) => void): void {
    this.#listener = listener;
  }

  effect(kind: EffectKind, what: string): void {
    if (!this.isArmed || this.up || this.passing > 0) return;
    this.isArmed = false;
    this.hooks?.effect(kind, what);
  }
}

/** Gives or throws what the record says; `args` are this call's. */
function answer(callee: string, outcome: Outcome & { kind: 'gave' | 'threw' }, args: readonly unknown[]): unknown {
  if (outcome.kind === 'threw') throw codec.decode(outcome.error);
  const index = table.FILLS[callee];
  if (index !== undefined && outcome.written !== undefined) fill(args[index], outcome.written.bytes);
  return codec.decode(outcome.value, args);
}

function fill(given: unknown, copies: readonly Uint8Array[]): void {
  const views = (Array.isArray(given) ? given : [given]).filter((view) => ArrayBuffer.isView(view));
  for (const [index, { buffer, byteOffset, byteLength }] of views.entries()) {
    const bytes = copies[index];
    if (bytes !== undefined) new Uint8Array(buffer, byteOffset, byteLength).set(bytes.subarray(0, byteLength));
  }
}

export = { Wall, answer };
