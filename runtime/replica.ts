/**
 * The inside of a replica's thread: evaluates the app behind the firewall, says what it could run, and runs what it is
 * sent. Piscina calls the default export once; all else comes by the port.
 *
 * The imports of this file are loaded before the firewall is up, and take what they need of Node as it is.
 */
import { EventEmitter } from 'node:events';
import type { LinkManifest, StartManifest } from '../flx/run-manifest.js';
import { type Listener, ReplicaAccept } from './accept/replica-accept.js';
import { Channel } from './bus.js';
import codeCache from './code-cache.cjs';
import { CannotTravel } from './codec.js';
import { checkSources, evaluate, readEmitted, readLink, readManifest, readStart } from './evaluate.js';
import raising from './firewall/raise.cjs';
import type { Firewall } from './firewall/startup-record.cjs';
import home from './home.cjs';
import homeLoop from './home-loop.cjs';
import { Leaving } from './leaving.js';
import { AppNames } from './link/app-names.js';
import { reachedByApp } from './link/app-reach.js';
import { Classes } from './link/classes.js';
import { freshReach, makeReach, type Reached } from './link/compare.js';
import { FluxionFinder, type FoundFluxion } from './link/find-fluxion.js';
import { changingNames, Dependencies, keptLanguage, keptLocals, keptSettings, TurningGuard } from './link/guards.js';
import type { Kept } from './link/kept.js';
import { withLift } from './link/lift.js';
import { remoteKey } from './link/pair.js';
import type { Parts } from './link/reach.js';
import { expectSigns, Reflector } from './link/reflect.js';
import { type Handler, hasStack, type Stacks, stackOf, stacksOfApp, stacksOfServer } from './link/routers.js';
import { WholeReach } from './link/whole.js';
import type {
  RemoteApp,
  RemoteCut,
  RemoteSlot,
  ReplicaSetup,
  ReplicaStarted,
  ReplicaTask,
  ToHome,
  ToReplica,
} from './messages.js';
import process from './node-process.cjs';
import { quietClients } from './quiet-clients.js';
import { ReplicaRuns } from './replica-runs.js';
import { divergenceText, lookAfter, Sanitizer, type Watched } from './sanitize.js';
import type { SwitchableLoop } from './types.js';
import { tellUncaught } from './uncaught-there.js';
import { sendWarnings } from './warnings.js';
import { packMessage, unpackMessage } from './wire.js';

/** Piscina has its result at once, and the thread for good; what came of the start-up is told by the port. */
export default function startReplica(task: ReplicaTask): void {
  void begin(task);
}

async function begin({ setup, port, begun, loaded }: ReplicaTask): Promise<void> {
  Atomics.store(loaded, 0, 1);
  Atomics.notify(loaded, 0);
  const receiver = {
    // Nothing else comes before start-up is over.
    receive(message: ToReplica): void {
      if (message.kind === 'signs') expectSigns(message.signs);
    },
  };
  const channel: Channel<ToHome, ToReplica> = new Channel<ToHome, ToReplica>(port, {
    wire: { pack: packMessage, unpack: unpackMessage },
    window: Number.POSITIVE_INFINITY,
    // Home sends as much as is begun.
    ackEvery: 1,
    receive: (message) => receiver.receive(message),
    closed: () => {},
  });
  const giveUp = (reason: string, isUnconnected = false): void => {
    channel.send({ kind: 'gave-up', reason, isUnconnected });
    channel.flush();
  };
  try {
    const { runs, accept, ready, share } = await start(setup, channel, begun, giveUp);
    receiver.receive = (message) => {
      if (message.kind === 'far-answer') accept.answered(message);
      else if (message.kind === 'accept') accept.accept(message);
      else if (message.kind === 'stop-accept') accept.stop(message);
      else if (message.kind === 'resume-accept') accept.resume(message);
      else if (message.kind === 'close-idle') accept.closeIdle(message);
      else if (message.kind === 'renew') accept.renew(message);
      else if (message.kind === 'count-accepted') accept.count(message);
      else if (message.kind === 'linked') share(message);
      else if (message.kind === 'signs') expectSigns(message.signs);
      else if (message.kind === 'retire') channel.send({ kind: 'may-retire', holds: runs.holds() ?? leaving.holds() });
      else runs.receive(message);
    };
    const leaving = new Leaving();
    channel.send(ready);
    runs.receive({ kind: 'ping' });
    channel.flush();
    // While home compares.
    codeCache.writeOwnCode(setup.folder);
  } catch (error) {
    giveUp(error instanceof Error ? (error.stack ?? error.message) : String(error));
    endThread();
  }
}

interface Started {
  readonly runs: ReplicaRuns;
  readonly accept: ReplicaAccept;
  readonly ready: ReplicaStarted;
  share(linked: Extract<ToReplica, { kind: 'linked' }>): void;
}

async function start(
  setup: ReplicaSetup,
  channel: Channel<ToHome, ToReplica>,
  begun: Int32Array,
  giveUp: (reason: string, isUnconnected: boolean) => void,
): Promise<Started> {
  const firewall = raising.raise(setup.record, { ownEnv: true, connects: setup.connects });
  firewall.gaveUp(giveUp);
  const loop = homeLoop.makeLoop();
  const collected = collectApps();
  await startUp(setup, loop, firewall);
  const chance = firewall.misses.find(({ what, answer }) => answer === 'real' && RANDOM.test(what));
  if (chance !== undefined) throw new Error(`${chance.what} at ${chance.at}: home made no such random value`);
  const manifests = firewall.outside(() => readManifests(setup));
  const made = collected.stop();
  firewall.outside(() => quiet(firewall));
  const linked = firewall.outside(() => link(firewall, made, loop, manifests, setup.accepts));
  const { found, cuts, watched } = linked;
  const names = new AppNames();
  for (const { root, stacks } of found) names.add(root, stacks.things);

  const listed = manifests.link.fluxions;
  const fluxions = new Map(listed.map((fluxion) => [fluxion.id, fluxion]));
  const handlers = new Map(found.flatMap(({ root, stacks }) => handlersOf(root, stacks)));
  names.addLoggers(handlers);
  names.addContexts(firewall.contexts);
  names.nameClasses(new Classes({ slots: handlers, apps: made.apps, ...manifests }));
  const runs = new ReplicaRuns({
    handlers,
    loop,
    names,
    begun,
    fluxionOf: (id) => fluxions.get(id),
    leaves: listed.some(({ movable, cut }) => !movable && cut),
    send: (message, transfer) => channel.send(message, transfer),
  });
  firewall.onEmptyContext((context) => runs.askedInVain(context));
  if (setup.sanitize) {
    const sanitizer = new Sanitizer(watched, () => freshReach(manifests.start, manifests.link, made.apps));
    const look = (): void => {
      for (const each of firewall.outside(() => sanitizer.look()))
        channel.send({ kind: 'diverged', text: divergenceText(setup.id, each) });
    };
    for (const [key, handler] of handlers) handlers.set(key, lookAfter(handler, sanitizer, look));
  }
  const accept = new ReplicaAccept({
    listenersOf: (root) => listenersOf(root, firewall, made),
    stacksOf: (root) => found.find((each) => each.root === root)?.stacks ?? null,
    fluxionsOf: setup.counts ? (root) => found.find((each) => each.root === root)?.fluxions ?? new Map() : null,
    fastPath: setup.fastPath,
    begins: () => runs.begins(),
    send: (message) => channel.send(message),
  });
  lift(firewall, channel, runs, () => accept.hadEffect(), linked.kept);
  const slots = found.flatMap((each) => each.slots);
  const unconnected = findUnconnected(firewall);
  const misses = firewall.misses.map(({ what, at }) => `${what} at ${at ?? 'an unknown place'}`);
  const share = ({ slots, cuts }: Extract<ToReplica, { kind: 'linked' }>): void => {
    for (const of of [...slots, ...cuts]) names.share(of, linked.parts.get(of) ?? new Map());
  };
  return { runs, accept, ready: { kind: 'ready', slots, cuts, apps: linked.apps, unconnected, misses }, share };
}

function quiet(firewall: Firewall): void {
  const clients = firewall.clients();
  if (clients.length === 0) return;
  const reflector = new Reflector();
  quietClients(clients, reflector);
  reflector.close();
}

function readManifests({ folder, lift }: ReplicaSetup): Manifests {
  const [start, link] = [readManifest(folder), readLink(folder)];
  return { start, link: lift === null ? link : withLift(link, lift) };
}

/** Keys that `generateKeys` makes are within native objects: no comparison would see that they differ. */
const RANDOM = /^(crypto|webcrypto|Sign)\b|random|generateKeys$/i;

async function startUp({ folder }: ReplicaSetup, loop: SwitchableLoop, firewall: Firewall): Promise<void> {
  const manifest = firewall.outside(() => readStart(folder));
  const emitted = firewall.outside(() => readEmitted(folder, manifest));
  firewall.outside(() => checkSources(manifest));
  homeLoop.setLoop(loop);
  firewall.outside(() => home.replaceTexts(emitted));
  const entry = manifest.modules.find(({ id }) => id === manifest.entry);
  if (entry === undefined) throw new Error('the entry is not among the modules');
  await evaluate(entry);
  await firewall.settled();
}

// --- what it could run ------------------------------------------------------------------------------------------------

interface Made {
  readonly apps: readonly object[];
  readonly routers: readonly object[];
}

/**
 * Every Express app listens to its own `mount` event, from the moment it is made. A router is a function that is given the
 * methods of routers.
 */
function collectApps(): { stop(): Made } {
  const { on } = EventEmitter.prototype;
  const { setPrototypeOf } = Object;
  const apps: object[] = [];
  const made: object[] = [];
  let isOver = false;
  const collecting = function (this: EventEmitter, ...args: Parameters<typeof on>): EventEmitter {
    if (args[0] === 'mount' && typeof this === 'function') apps.push(this);
    return Reflect.apply(on, this, args);
  };
  EventEmitter.prototype.on = collecting;
  // Packages keep it for themselves, so it goes on as the other one.
  const setting = {
    setPrototypeOf(...args: Parameters<typeof setPrototypeOf>): unknown {
      if (!isOver && typeof args[0] === 'function') made.push(args[0]);
      return Reflect.apply(setPrototypeOf, Object, args);
    },
  };
  Object.setPrototypeOf = setting.setPrototypeOf;
  return {
    stop() {
      isOver = true;
      EventEmitter.prototype.on = on;
      if (Object.setPrototypeOf === setting.setPrototypeOf) Object.setPrototypeOf = setPrototypeOf;
      for (const app of apps) if (Reflect.get(app, 'on') === collecting) Reflect.set(app, 'on', on);
      return { apps, routers: [...new Set(made)].filter((each) => !apps.includes(each) && hasStack(each)) };
    },
  };
}

interface Found {
  readonly root: string;
  readonly stacks: Stacks;
  readonly slots: readonly RemoteSlot[];
  /** By the paths of slots. */
  readonly fluxions: ReadonlyMap<string, string>;
}

interface Linked {
  readonly found: readonly Found[];
  readonly cuts: readonly RemoteCut[];
  readonly apps: readonly RemoteApp[];
  readonly watched: readonly Watched[];
  /** What slots and cuts reach, by their keys. */
  readonly parts: ReadonlyMap<string, Parts>;
  /** What all that may run here depends on. */
  readonly kept: readonly Kept[];
}

interface Manifests {
  readonly start: StartManifest;
  readonly link: LinkManifest;
}

function link(
  { servers }: Firewall,
  { apps, routers }: Made,
  { makes }: SwitchableLoop,
  { start, link }: Manifests,
  accepts: boolean,
): Linked {
  const watched: Watched[] = [];
  const kept: Kept[] = [];
  const parts = new Map<string, Parts>();
  let readsLocals = false;
  const changing = changingNames(link);
  const reflector = new Reflector();
  const finder = new FluxionFinder(start, link);
  const reach = makeReach(reflector, start, link, apps);
  const whole = accepts ? new WholeReach(reflector, start, link, reach) : null;
  const reachedBy = (is: FoundFluxion | null, key: string): Reached | null => {
    if (!is?.fluxion.movable) return null;
    const dependencies = new Dependencies(changing);
    const reached = [...reach.of(is.fn, dependencies)];
    parts.set(key, dependencies.parts);
    for (const each of dependencies.kept) if (!kept.some(({ holder }) => holder === each.holder)) kept.push(each);
    readsLocals ||= dependencies.readsLocals;
    watched.push({ ...is, reached });
    return reached;
  };
  const withPlaces = (root: string, stacks: Stacks): Found => {
    const places = reflector.locate(stacks.slots.map(({ fn }) => fn));
    const fluxions = new Map<string, string>();
    const slots = stacks.slots.flatMap(({ path, fn }, index) => {
      const place = places[index];
      if (place === null || place === undefined) return [];
      const is = finder.find(fn, place, reflector);
      if (is !== null) fluxions.set(path, is.fluxion.id);
      return [
        {
          root,
          path,
          place,
          reached: reachedBy(is, remoteKey({ root, path })),
          whole: whole?.ofSlot(fn, place, is)?.reached ?? null,
        },
      ];
    });
    return { root, stacks, slots, fluxions };
  };
  const found = servers.map(({ server }, index) => withPlaces(`server${index}`, stacksOfServer(server, reflector)));
  // What hangs below another one is walked with that.
  const seen = new Set(found.flatMap(({ stacks }) => [...stacks.things.values()].map(stackOf)));
  const walk = (kind: 'app' | 'router', roots: readonly object[]): void => {
    for (const [index, root] of roots.entries()) {
      if (seen.has(stackOf(root))) continue;
      const each = withPlaces(`${kind}${index}`, stacksOfApp(root, reflector));
      for (const thing of each.stacks.things.values()) seen.add(stackOf(thing));
      found.push(each);
    }
  };
  walk('app', apps);
  walk('router', routers);
  const movable = new Set(link.fluxions.flatMap(({ id, movable }) => (movable ? [id] : [])));
  const cuts = [...makes].flatMap(([id, make]) => {
    if (!movable.has(id)) return [];
    const dependencies = new Dependencies(changing);
    const reached = [...reach.of(make, dependencies)];
    parts.set(id, dependencies.parts);
    return [{ id, reached }];
  });
  // What handlers reach may have been more than is told apart, and settings are not.
  const ofApps = makeReach(reflector, start, link, apps);
  const remoteApps = found.flatMap(({ root, stacks }) =>
    [...stacks.things].flatMap(([path, thing]) => {
      const reached = reachedByApp(thing, ofApps);
      return reached === null ? [] : [{ root, path, reached }];
    }),
  );
  reflector.close();
  const things = found.flatMap(({ stacks }) => [...stacks.things.values()]);
  kept.push(...keptSettings(things), ...(readsLocals ? keptLocals(things) : []));
  return { found, cuts, apps: remoteApps, watched, parts, kept };
}

/** What the server of this name calls, or what a server of an app would. */
function listenersOf(root: string, { servers }: Firewall, { apps }: Made): readonly Listener[] {
  const [, kind, index] = /^(server|app)(\d+)$/.exec(root) ?? [];
  const found = kind === 'app' ? [apps[Number(index)]] : servers[Number(index)]?.server.rawListeners('request');
  return (found ?? []).filter((each): each is Listener => typeof each === 'function');
}

function handlersOf(root: string, { slots }: Stacks): readonly (readonly [string, Handler])[] {
  return slots.map(({ path, fn }) => [remoteKey({ root, path }), fn] as const);
}

function findUnconnected({ blocked, unready }: Firewall): readonly string[] {
  const names = blocked.flatMap(({ package: name, what }) => (name !== null && NETWORK.test(what) ? [name] : []));
  return [...new Set([...names, ...unready()])];
}

const NETWORK = /^(net|tls|https?|http2|dgram|dns|fetch|undici)\b/;

// --- from now on effects are real -------------------------------------------------------------------------------------

function lift(
  firewall: Firewall,
  channel: Channel<ToHome, ToReplica>,
  runs: ReplicaRuns,
  hadEffect: () => void,
  kept: readonly Kept[],
): void {
  const now = (message: ToHome): void => {
    channel.send(message);
    channel.flush();
  };
  let isEnding = false;
  firewall.lift({
    exit(code) {
      // What ends this thread alone comes by here too.
      if (!isEnding) now({ kind: 'exit', code });
      return endThread();
    },
    output(fd, chunk, byDescriptor) {
      hadEffect();
      channel.send({ kind: 'output', fd, chunk, byDescriptor });
    },
    process: (name, args) => now({ kind: 'process', name, args }),
    listen: () => {},
    effect(effect, what) {
      hadEffect();
      now({ kind: 'effect', effect, what, runs: runs.begun() });
    },
    dead: (what) => runs.failAll(what, 'it is alive on the main thread only'),
  });
  // The firewall had clocks and chance of its own there.
  let guard: TurningGuard | null = new TurningGuard([...kept, ...keptLanguage()]);
  runs.onBegin(() => {
    const changed = guard?.next() ?? null;
    if (changed !== null) {
      guard = null;
      now({ kind: 'changed', what: changed });
    }
    firewall.armed();
  });
  sendWarnings(now);
  tellUncaught({
    tell(told, error) {
      now({ kind: 'uncaught', ...told, ...runs.uncaught(error) });
    },
    tellLater: (kind, promise) => channel.send({ kind, promise }),
    // Thrown so that nothing goes on behind it, perhaps in a callback of the app's own; home has been told already.
    isTold: (error) => error instanceof CannotTravel,
    ownFault(stack) {
      now({ kind: 'crash', stack });
      isEnding = true;
      endThread();
    },
  });
}

const { exit } = process;

function endThread(): never {
  return Reflect.apply(exit, process, [0]) as never;
}
