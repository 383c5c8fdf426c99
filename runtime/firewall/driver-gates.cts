/**
 * Reads:   packages that the app loads at start-up, and `drivers.cts`.
 * Gives:   gates in front of what users ask of packages that connect: connecting is really done and waited for, all else is
 *          neither done nor answered. When the firewall is lifted they are gone.
 */
import crypto = require('node:crypto');
import events = require('node:events');
import Module = require('node:module');
import path = require('node:path');
import callSites = require('./call-site.cjs');
import drivers = require('./drivers.cjs');
import patching = require('./patches.cjs');
import type walls = require('./wall.cjs');

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;
type Driver = (typeof drivers.DRIVERS)[number];
type Point = Driver['points'][number];

const { apply, construct } = Reflect;

/** One copy of a package: there may be several, of different versions. */
class Copy {
  readonly folder: string;
  readonly driver: Driver;
  readonly #missing: Set<Point>;

  constructor(folder: string, driver: Driver) {
    this.folder = folder;
    this.driver = driver;
    this.#missing = new Set(driver.points);
  }

  found(point: Point): void {
    this.#missing.delete(point);
  }

  /** All that its users may ask passes by a gate, so what it does beside that is to connect. */
  get isKnown(): boolean {
    return this.#missing.size === 0;
  }
}

class DriverGates {
  readonly #opens: boolean;
  readonly #wall: Wall;
  readonly #patches: Patches;
  readonly #copies = new Map<string, Copy>();
  /** Connections that have been asked for and are not there yet. */
  #open = 0;
  readonly #counters: object[] = [];
  readonly #made = new Map<Copy, number>();
  readonly #connected = new Map<Copy, Set<unknown>>();

  /** `opens`: connections come about. */
  constructor(wall: Wall, patches: Patches, opens: boolean) {
    this.#opens = opens;
    this.#wall = wall;
    this.#patches = patches;
  }

  /** From now on each module of a known package is looked at when it has been evaluated. */
  watch(): void {
    const extensions: unknown = Reflect.get(Module, '_extensions');
    if (typeof extensions !== 'object' || extensions === null) return;
    const found = (module: unknown, file: unknown): void => {
      if (typeof file === 'string' && typeof module === 'object' && module !== null) this.#loaded(module, file);
    };
    this.#patches.wrap(extensions, '.js', () => ({
      apply(target, self, args) {
        const result = apply(target, self, args);
        found(args[0], args[1]);
        return result;
      },
    }));
  }

  /** Does the call come from the code of a package that is only connecting? */
  connects({ file }: { readonly file: string | null }): boolean {
    if (file === null || !this.#opens) return false;
    for (const { folder, driver, isKnown } of this.#copies.values()) {
      if (driver.opens && isKnown && file.startsWith(folder)) return true;
    }
    return false;
  }

  /** From here on this thread counts for itself. */
  lifted(): void {
    for (const counter of this.#counters) {
      const reset: unknown = Reflect.get(counter, 'resetState');
      if (patching.isFunction(reset)) apply(reset, counter, []);
      else if (typeof Reflect.get(counter, 'index') === 'number')
        Reflect.set(counter, 'index', crypto.randomInt(0x1000000));
    }
  }

  /** What start-up has connected here. */
  clients(): readonly object[] {
    return [...this.#connected.values()].flatMap((clients) => [...clients].filter(isObject));
  }

  get isConnecting(): boolean {
    return this.#open > 0;
  }

  /** Packages that serve nobody before they are connected, and have not been. */
  unready(): readonly string[] {
    const names: string[] = [];
    for (const copy of this.#copies.values()) {
      const connected = this.#connected.get(copy)?.size ?? 0;
      const wanted = copy.driver.points.some(({ kind }) => kind === 'made') ? (this.#made.get(copy) ?? 0) : 1;
      if (copy.driver.waits && connected < wanted) names.push(copy.driver.package);
    }
    return names;
  }

  #loaded(module: object, file: string): void {
    for (const driver of drivers.DRIVERS) {
      for (const point of driver.points) {
        const ending = path.join(path.sep, 'node_modules', driver.package, point.file);
        if (!file.endsWith(ending)) continue;
        const copy = this.#copyIn(file.slice(0, file.length - path.normalize(point.file).length), driver);
        if (point.kind === 'counts') this.#addCounter(Reflect.get(module, 'exports'), point.at);
        else if (this.#guard(Reflect.get(module, 'exports'), copy, point) || point.optional === true) copy.found(point);
      }
    }
  }

  #copyIn(folder: string, driver: Driver): Copy {
    let copy = this.#copies.get(folder);
    if (copy === undefined) this.#copies.set(folder, (copy = new Copy(folder, driver)));
    return copy;
  }

  #addCounter(exported: unknown, at: string): void {
    const counter: unknown = at === '' || !isObject(exported) ? exported : Reflect.get(exported, at);
    if (isObject(counter)) this.#counters.push(counter);
  }

  #guard(exported: unknown, copy: Copy, point: Point): boolean {
    const keys = point.at.split('.');
    const last = keys.pop() ?? '';
    let holder: unknown = exported;
    for (const key of keys) holder = isObject(holder) ? Reflect.get(holder, key) : null;
    if (!isObject(holder) || !Object.hasOwn(holder, last)) return false;
    return this.#patches.wrap(holder, last, () => this.#gate(copy, point));
  }

  #gate(copy: Copy, point: Point): ProxyHandler<Fn> {
    const wall = this.#wall;
    switch (point.kind) {
      case 'counts':
        return {};
      case 'asked':
      case 'passes':
        return {
          apply: function trap(this: unknown, target: Fn, self: unknown, args: unknown[]): unknown {
            const passes = (): boolean => isSetting(args) || callSites.isWithin(copy.folder, trap as Fn);
            if (!wall.stops || (point.kind === 'passes' && passes())) return apply(target, self, args);
            wall.note(`${copy.driver.package} ${point.at}`, wall.site(trap as Fn));
            return point.gives === 'emitter' ? new events.EventEmitter() : new Promise(() => {});
          },
        };
      case 'connects':
        return { apply: (target, self, args) => this.#connect(copy, target, self, args) };
      case 'made':
        return {
          construct: (target, args, newTarget) => {
            if (wall.stops) this.#made.set(copy, (this.#made.get(copy) ?? 0) + 1);
            return construct(target, args, newTarget);
          },
        };
    }
  }

  #connect(copy: Copy, target: Fn, self: unknown, args: unknown[]): unknown {
    if (!this.#wall.stops || !this.#opens || !copy.isKnown) return apply(target, self, args);
    const over = (error: unknown): void => {
      this.#open -= 1;
      if (error === null) this.#connectedTo(copy, self);
      else if (this.#wall.up && !/\balready\b/i.test(String(error)))
        this.#wall.notConnected(copy.driver.package, error);
    };
    const callback = args[args.length - 1];
    this.#open += 1;
    if (patching.isFunction(callback)) {
      const heard = (...results: unknown[]): unknown => {
        over(results[0] ?? null);
        return apply(callback, undefined, results);
      };
      return apply(target, self, [...args.slice(0, -1), heard]);
    }
    const given = apply(target, self, args);
    if (!(given instanceof Promise)) return given;
    given.then(() => over(null), over);
    return given;
  }

  #connectedTo(copy: Copy, client: unknown): void {
    const known = this.#connected.get(copy) ?? new Set();
    this.#connected.set(copy, known.add(client));
  }
}

/** A command that says how the connection is to be used from then on: each connection is told. */
const SETTING = /^(select|auth|hello|client|readonly|readwrite)$/i;

function isSetting([first]: readonly unknown[]): boolean {
  const name: unknown = Array.isArray(first) ? first[0] : isObject(first) ? Reflect.get(first, 'name') : null;
  return typeof name === 'string' && SETTING.test(name);
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

export = { DriverGates };
