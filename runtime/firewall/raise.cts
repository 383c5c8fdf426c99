/**
 * Reads:   the record of home's start-up; what the app does in this thread.
 * Gives:   a thread in which the app's modules can be evaluated once more, and nothing of it shows outside.
 *
 * It is loaded in a worker thread before any of the app's code. `table.cts` says what each function of Node's core is;
 * most of them get their trap from there (`table-traps.cts`), the rest has files of its own (`inert-*.cts`).
 */
import Module = require('node:module');
import clockDate = require('./clock-date.cjs');
import contextsOf = require('./contexts.cjs');
import driverGates = require('./driver-gates.cjs');
import inertAddons = require('./inert-addons.cjs');
import inertChildren = require('./inert-children.cjs');
import inertOutput = require('./inert-output.cjs');
import inertProcess = require('./inert-process.cjs');
import inertServers = require('./inert-servers.cjs');
import inertSockets = require('./inert-sockets.cjs');
import inertTimers = require('./inert-timers.cjs');
import patching = require('./patches.cjs');
import table = require('./table.cjs');
import tableTraps = require('./table-traps.cjs');
import walls = require('./wall.cjs');

import type { CapturedServer, Firewall, FirewallOptions, StartupRecord } from './startup-record.cjs';

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

/** What Node itself needs of replaced functions it takes when these are loaded: before. */
const PRELOADED = [
  'http',
  'https',
  'http2',
  'dgram',
  'dns',
  'child_process',
  'cluster',
  'readline',
  'perf_hooks',
  'zlib',
];

const QUIET_TURNS = 5;
/** What home has long done takes longer here only where nobody answers any more. */
const CONNECT_MS = 5_000;

type Gates = InstanceType<typeof driverGates.DriverGates>;

const { setImmediate } = globalThis;
const now = performance.now.bind(performance);
const { getActiveResourcesInfo, exit } = process;

function raise(record: StartupRecord, options: FirewallOptions = {}): Firewall {
  if (record.tooLarge !== null) throw new Error(`no replica can be started: ${record.tooLarge}`);
  const wall = new walls.Wall(record, options, () => exit.call(process, 0));
  const temporary = new patching.Patches();
  const lasting = new patching.Patches();
  const servers: CapturedServer[] = [];
  const clock: { time: (() => number) | null } = { time: null };

  const { now } = clockDate.replaceDate(clock);
  clock.time = function time() {
    return replayTime(wall, now, time, clock);
  };
  quietly(() => {
    for (const name of PRELOADED) require(`node:${name}`);
    for (const name of Object.keys(table.TABLE)) wrapModule(wall, name, temporary, lasting);
    alignClock(wall, lasting, performance.timeOrigin - record.facts.timeOrigin);
  });
  inertAddons.guardAddons(wall, temporary, lasting);
  inertTimers.stopTimers(wall, temporary);
  inertSockets.stopSockets(wall, temporary, lasting);
  inertServers.captureServers(wall, lasting, servers);
  inertChildren.stopChildren(wall, temporary, lasting);
  inertOutput.redirectOutput(wall, lasting, record.facts);
  inertProcess.disguise(wall, temporary, lasting, record.facts, options);
  const gates = new driverGates.DriverGates(wall, temporary, options.connects === true);
  gates.watch();
  wall.connects = (site) => gates.connects(site);
  const contexts = new contextsOf.Contexts();
  contexts.watch(temporary);
  contexts.guard(lasting);
  lasting.put(performance, 'timeOrigin', { value: record.facts.timeOrigin });
  temporary.publish();

  return {
    servers,
    blocked: wall.blocked,
    misses: wall.misses,
    gaveUp: (listener) => wall.onGivenUp(listener),
    outside: (work) => wall.outside(work),
    unready: () => gates.unready(),
    clients: () => gates.clients(),
    contexts: contexts.made,
    onEmptyContext: (listener) => contexts.onEmpty(listener),
    settled: () => settled(wall, gates),
    armed: () => {
      wall.isArmed = true;
    },
    lift: (hooks) => {
      wall.hooks = hooks;
      wall.up = false;
      clock.time = null;
      temporary.restore();
      wall.refill();
      gates.lifted();
    },
  };
}

/** Loading what is experimental warns; the app has not asked for it. */
function quietly(work: () => void): void {
  const before = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  process.emitWarning = () => {};
  work();
  if (before !== undefined) Object.defineProperty(process, 'emitWarning', before);
}

function wrapModule(wall: Wall, name: string, temporary: Patches, lasting: Patches): void {
  const kinds = table.kindsOf(name);
  if (name === 'performance' || [...kinds.values()].every((kind) => kind === 'pure')) return;
  for (const holder of patching.holdersOf(name)) {
    const unlisted = Object.keys(holder).filter((key) => isUnlisted(name, holder, key, kinds));
    for (const member of [...kinds.keys(), ...unlisted]) {
      const place = patching.placeOf(holder, member);
      const handler = place === null ? undefined : tableTraps.handlerFor(wall, name, member);
      if (place === null || handler === undefined) continue;
      const patches = tableTraps.TEMPORARY.has(table.kindOf(name, member)) ? temporary : lasting;
      patches.wrap(place.holder, place.key, () => handler);
    }
  }
}

/** A function of Node's modules that the table does not know. The app's own globals are no such thing. */
function isUnlisted(name: string, holder: object, key: string, kinds: ReadonlyMap<string, unknown>): boolean {
  if (kinds.has(key) || !Module.isBuiltin(name)) return false;
  return typeof Object.getOwnPropertyDescriptor(holder, key)?.value === 'function';
}

/** `performance.now()` counts from the start of the thread; what start-up made of it counts from the start of home. */
function alignClock(wall: Wall, patches: Patches, offset: number): void {
  for (const holder of patching.holdersOf('performance')) {
    patches.wrap(holder, 'now', (original) => {
      const aligned: Fn = () => Number(Reflect.apply(original, performance, [])) + offset;
      const startup = tableTraps.handlerFor(wall, 'performance', 'now');
      return {
        apply(_target, self, args) {
          return wall.up && startup?.apply !== undefined ? startup.apply(aligned, self, args) : aligned();
        },
      };
    });
  }
}

function replayTime(wall: Wall, now: () => number, above: Fn, clock: { time: unknown }): number {
  if (!wall.stops) return now();
  const site = wall.site(above);
  if (site.key === '' || wall.connects(site)) return now();
  const outcome = wall.next('Date', site);
  if (outcome?.kind === 'gave' && typeof outcome.value === 'number') return outcome.value;
  wall.miss('Date', site, 'real');
  if (wall.isExhausted('Date')) clock.time = null;
  return now();
}

/**
 * Start-up is over when nothing that calls back is under way, some turns in a row. What Node reads for its own loader
 * is under way too.
 */
async function settled(wall: Wall, gates: Gates): Promise<void> {
  const begin = now();
  for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
    await new Promise<void>((resolve) => wall.outside(() => setImmediate(resolve)));
    const busy = wall.pending > 0 || getActiveResourcesInfo.call(process).some((kind) => /REQ|JOB/i.test(kind));
    if (gates.isConnecting && now() - begin > CONNECT_MS)
      wall.notConnected('start-up', `not within ${CONNECT_MS / 1000} seconds`);
    if (busy || gates.isConnecting) quiet = -1;
  }
}

export = { raise };
