/**
 * Reads:   own properties that the app put on a request or a response.
 * Gives:   them as `Properties`, and on the other side as properties of the stand-in, with what was changed later.
 * Reports: CannotTravel where the other side could not tell that something is missing. A single property that
 *          cannot travel becomes a trap, which stops the exchange when it is touched.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CannotTravel, type Encoder, type Refs } from '../codec.js';
import { ChangeList, indexPaths, isChangedWithin, type Path, takeSnapshot } from './changes.js';
import { NODES_OWN_REQ, NODES_OWN_RES } from './genuine.js';
import { keyNamed, nameOfKey, shown } from './keys.js';
import { isLocals, LOCALS, makeLocals } from './locals.js';
import type { ObjectChanges, Properties } from './messages.js';
import type { Args } from './names.js';
import { isKeptUrl, keepUrl, keptUrls } from './parsed-urls.js';
import { isRoutersOwn } from './routers-own.js';

/** Each loop has its own of these: the other side makes them itself, or needs none. */
const REQ_MADE_ANEW: ReadonlySet<string | symbol> = new Set([
  'res',
  'next',
  '_parsedUrl',
  '_parsedOriginalUrl',
  '__onFinished',
  'on',
  'once',
  'addListener',
  'emit',
]);

/** Middleware hooks into these; its hooks stay with the response that they were put on, which is at home. */
const RES_MADE_ANEW: ReadonlySet<string | symbol> = new Set([
  'req',
  '__onFinished',
  'write',
  'end',
  'writeHead',
  'writeHeader',
  'setHeader',
  'appendHeader',
  'removeHeader',
  'flushHeaders',
  'addTrailers',
  'on',
  'once',
  'addListener',
  'emit',
]);

/** The two of Node's own that the app does change. */
const REQ_CHANGED: readonly string[] = ['url', 'method'];

export function packReq(req: IncomingMessage, encoder: Encoder): Properties {
  const { names, values, traps } = pack(req, 'req', encoder, NODES_OWN_REQ, REQ_MADE_ANEW, REQ_CHANGED);
  // Behind all others: it is made of some of them.
  return { names: [...names, ...keptUrls(req)], values, traps };
}

export function packRes(res: ServerResponse, encoder: Encoder): Properties {
  return pack(res, 'res', encoder, NODES_OWN_RES, RES_MADE_ANEW, []);
}

/** All of them have to travel: a handler looks at what it is called with. */
export function packArgs(args: Args, encoder: Encoder): Properties {
  const names = Object.keys(args);
  const values: unknown[] = [];
  for (const [at, name] of names.entries()) encoder.put(values, at, args[name], name);
  return { names, values, traps: [] };
}

/** A context is what it is: nothing can take its place. So all that may change in it has to be known by the way to it. */
export function packStores(stores: Args, encoder: Encoder): Properties {
  for (const store of Object.values(stores))
    if (!isChangedWithin(store)) throw new CannotTravel('the context', NOT_WITHIN);
  return packArgs(stores, encoder);
}

const NOT_WITHIN = 'what is changed in it could not be told';

function pack(
  from: object,
  of: string,
  encoder: Encoder,
  nodesOwn: ReadonlySet<string | symbol>,
  madeAnew: ReadonlySet<string | symbol>,
  first: readonly string[],
): Properties {
  const names = [...first];
  const values: unknown[] = first.map((name): unknown => Reflect.get(from, name));
  const traps: string[] = [];
  for (const key of Reflect.ownKeys(from)) {
    if (nodesOwn.has(key) || madeAnew.has(key)) continue;
    if (typeof key === 'symbol' && isRoutersOwn(key)) continue;
    const name = nameOfKey(key, encoder.refs);
    // Code on the other side would look for a symbol of its own, find nothing, and could not know.
    if (name === undefined) throw new CannotTravel(pathOf(of, key), NO_NAME);
    const why = packOne(from, key, pathOf(of, key), encoder, values);
    if (why === undefined) names.push(isLocals(Reflect.get(from, key)) ? LOCALS : name);
    else traps.push(name, why);
  }
  return { names, values, traps };
}

const HIDDEN = 'it is hidden or read-only';
const NO_NAME = 'its name is a symbol that the other loop does not know';

function pathOf(of: string, key: string | symbol): string {
  return typeof key === 'string' ? `${of}.${key}` : `${of}[${String(key)}]`;
}

/** Undefined: it is in `values` now. */
function packOne(
  from: object,
  key: string | symbol,
  path: string,
  encoder: Encoder,
  values: unknown[],
): string | undefined {
  const found = Object.getOwnPropertyDescriptor(from, key);
  if (found === undefined || !('value' in found)) return 'it is an accessor';
  if (found.enumerable !== true || found.writable !== true) return HIDDEN;
  const at = values.length;
  try {
    encoder.put(values, at, isLocals(found.value) ? { ...found.value } : found.value, path);
    return undefined;
  } catch (error) {
    values.length = at;
    if (error instanceof CannotTravel && !error.isCalled) return error.path === path ? error.why : error.message;
    throw error;
  }
}

/** Home's own object, where both sides are one loop: what could not travel is read there. */
export interface RealObject {
  readonly object: object;
  read(key: string | symbol): unknown;
}

export type PartName = 'req' | 'res' | 'args' | 'stores';

export type Fail = (what: string, why: string) => never;

/** What a stand-in was given, by the names of `keys.ts`; knows what has been changed since. */
export class Given {
  readonly #before = new Map<string, ReturnType<typeof takeSnapshot>>();
  readonly #traps = new Map<string, () => unknown>();

  private constructor(
    readonly target: object,
    readonly name: PartName,
    readonly refs: Refs,
    readonly fail: Fail,
    readonly real: RealObject | null,
  ) {}

  static put(
    target: object,
    name: PartName,
    properties: Properties,
    refs: Refs,
    fail: Fail,
    real: RealObject | null,
  ): Given {
    const given = new Given(target, name, refs, fail, real);
    given.put(properties);
    return given;
  }

  put({ names, values, traps }: Properties): void {
    for (const [at, name] of names.entries()) {
      if (isKeptUrl(name)) {
        keepUrl(this.target, name);
        continue;
      }
      const key = name === LOCALS ? 'locals' : name;
      const value = name === LOCALS ? makeLocals(values[at]) : values[at];
      Reflect.set(this.target, this.#key(key), value);
      this.#before.set(key, takeSnapshot(value));
    }
    for (let at = 0; at < traps.length; at += 2) this.#trap(traps[at] ?? '', traps[at + 1] ?? '');
  }

  /** What home has changed itself meanwhile. */
  renew(properties: Properties): void {
    const names = new Set(properties.names.map((name) => (name === LOCALS ? 'locals' : name)));
    for (let at = 0; at < properties.traps.length; at += 2) names.add(properties.traps[at] ?? '');
    for (const key of [...this.#before.keys(), ...this.#traps.keys()]) {
      if (!names.has(key)) Reflect.deleteProperty(this.target, this.#key(key));
    }
    for (const key of this.#traps.keys()) Reflect.deleteProperty(this.target, this.#key(key));
    this.#before.clear();
    this.#traps.clear();
    this.put(properties);
  }

  /** What it is called here. */
  #key(name: string): string | symbol {
    return keyNamed(name, this.refs);
  }

  #trap(name: string, why: string): void {
    const what = `${this.name}.${shown(name)}`;
    const { real } = this;
    const key = this.#key(name);
    const get = (): unknown => (real === null ? this.fail(what, why) : real.read(key));
    const set = real === null ? get : (value: unknown): void => void Reflect.set(real.object, key, value);
    this.#traps.set(name, get);
    Object.defineProperty(this.target, key, { get, set, enumerable: true, configurable: true });
  }

  /** Where home has what it gave. */
  indexPaths(into: Map<object, Path>): void {
    for (const [key, snapshot] of this.#before) indexPaths([this.name, key], snapshot, into);
  }

  changes(encoder: Encoder, { hasEnded: ended, handsOn, lose }: Looking): ObjectChanges | null {
    const list = new ChangeList(encoder, this.name, lose, this.real?.object ?? null, handsOn);
    const { nodesOwn, madeAnew } = OF_PART[this.name];
    let left = this.#before.size + this.#traps.size;
    // Hidden properties take time to list, and only a chain that goes on could miss them.
    for (const key of ended ? shownKeys(this.target) : Reflect.ownKeys(this.target)) {
      if (nodesOwn.has(key) && !REQ_CHANGED.includes(String(key))) continue;
      const name = nameOfKey(key, this.refs);
      if (name !== undefined && this.#compare(name, list)) left--;
      // Nobody at home can look for that.
      else if (name === undefined && ended) continue;
      else if (!nodesOwn.has(key) && !(madeAnew.has(key) && (ended || (this.real !== null && !handsOn))))
        this.#checkNew(key, list, handsOn);
    }
    if (left > 0) this.#findRemoved(list);
    return list.changes;
  }

  /** Was it given? */
  #compare(name: string, list: ChangeList): boolean {
    const before = this.#before.get(name);
    if (before !== undefined) {
      // A primitive that is the same, as most are, needs no more than this.
      const value: unknown = Reflect.get(this.target, this.#key(name));
      if (before.inside !== null || !Object.is(before.value, value)) list.compare([name], value, before);
      return true;
    }
    const trap = this.#traps.get(name);
    if (trap === undefined) return false;
    return Object.getOwnPropertyDescriptor(this.target, this.#key(name))?.get === trap;
  }

  #checkNew(key: string | symbol, list: ChangeList, goesOn: boolean): void {
    if (typeof key === 'string' ? LOCAL.has(key) : isRoutersOwn(key)) return;
    const found = Object.getOwnPropertyDescriptor(this.target, key);
    const path = pathOf(this.name, key);
    const name = nameOfKey(key, this.refs);
    // Who comes next would find something else where it lists names, or assigns to it.
    const isPlain = found?.enumerable === true && found.writable === true && found.configurable === true;
    const isAsItIs = typeof key === 'symbol' || (found !== undefined && (!('value' in found) || !isPlain));
    if (this.real !== null && isAsItIs && found !== undefined) Object.defineProperty(this.real.object, key, found);
    else if (name === undefined) list.lose(new CannotTravel(path, NO_NAME));
    else if (found === undefined || !('value' in found)) list.lose(new CannotTravel(path, 'it is an accessor'));
    else if (!isPlain && goesOn) list.lose(new CannotTravel(path, HIDDEN));
    else list.set([name], found.value);
  }

  #findRemoved(list: ChangeList): void {
    for (const key of [...this.#before.keys(), ...this.#traps.keys()]) {
      if (Object.hasOwn(this.target, this.#key(key))) continue;
      list.remove([key]);
      const before = this.#before.get(key);
      if (before !== undefined) list.contents([key], before);
    }
  }

  /** From now on these count as given. */
  accept(changes: ObjectChanges | null): void {
    if (changes === null) return;
    const { paths, removed } = changes;
    // Many may be changed within one.
    for (const key of new Set([...paths, ...removed].map(([first]) => first ?? ''))) {
      this.#traps.delete(key);
      const own = this.#key(key);
      if (Object.hasOwn(this.target, own)) this.#before.set(key, takeSnapshot(Reflect.get(this.target, own)));
      else this.#before.delete(key);
    }
  }
}

export interface Looking {
  /**
   * The response has been sent: nothing but listeners will look any more. A hook that a handler has put there has done its work by then;
   * before, home's would lack it.
   */
  readonly hasEnded: boolean;
  /** The chain goes on. Where both sides are one loop, home takes the hooks over then, and not while calls go through both. */
  readonly handsOn: boolean;
  /** Told of what cannot travel. */
  lose(error: CannotTravel): void;
}

function shownKeys(of: object): readonly (string | symbol)[] {
  const symbols = Object.getOwnPropertySymbols(of);
  return symbols.length === 0 ? Object.keys(of) : [...Object.keys(of), ...symbols];
}

const NONE: ReadonlySet<string | symbol> = new Set();
const OF_PART = {
  req: { nodesOwn: NODES_OWN_REQ, madeAnew: REQ_MADE_ANEW },
  res: { nodesOwn: NODES_OWN_RES, madeAnew: RES_MADE_ANEW },
  args: { nodesOwn: NONE, madeAnew: NONE },
  stores: { nodesOwn: NONE, madeAnew: NONE },
} as const;

/** Bookkeeping of a loop: functions that concern that loop's own object only. */
const LOCAL: ReadonlySet<string> = new Set(['next', 'res', 'req', '__onFinished', '_parsedUrl', '_parsedOriginalUrl']);
