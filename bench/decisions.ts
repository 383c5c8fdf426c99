/**
 * `npm run bench:decisions`: what it costs to decide for a request where it runs, and to know what that is decided from. A router
 * takes a handler by way of a stub's getter, and calls it; beside that, in turns, the same without a stub. Nothing else
 * of a request is there, so what is left is ours.
 */
import process from 'node:process';
import type { LinkFluxion } from '../flx/run-manifest.js';
import { Dispatcher } from '../runtime/dispatch.js';
import type { LinkedSlot } from '../runtime/link/link-home.js';
import type { Handler } from '../runtime/link/routers.js';
import { Log } from '../runtime/log.js';
import { ReplicaCount } from '../runtime/replica-count.js';
import { Counts } from '../runtime/report.js';
import { Scheduler } from '../runtime/scheduler.js';
import { Stubs } from '../runtime/stubs.js';
import { median, sorted } from './ratio.js';

const REQUESTS = 200_000;
const TURNS = 15;

let calls = 0;
const handler: Handler = () => void calls++;

/** The router's side of a layer: what is called is looked up for each request. */
interface Layer {
  handle: Handler;
}

function stubbed(layer: Layer): void {
  const counts = new Counts();
  const scheduler = new Scheduler('auto', () => false);
  const dispatcher = new Dispatcher({
    scheduler,
    replicas: () => [],
    expectsMore: () => false,
    wanted: () => {},
    mostFor: () => 1,
    mostWaiting: 1,
    keepsParts: false,
    replaced: [],
    counts,
    log: new Log('silent'),
  });
  const fluxion: LinkFluxion = {
    ...{
      id: 'get',
      kind: 'start',
      module: 'app.js',
      line: 1,
      column: 1,
      placement: 'replicated',
      tags: [],
      context: [],
    },
    ...{
      movable: true,
      whole: true,
      holds: false,
      asks: false,
      why: null,
      connects: [],
      promised: false,
      cut: false,
      message: [],
      captures: [],
    },
    open: null,
  };
  const stubs = new Stubs({
    ...{ dispatcher, scheduler, counts, overload: 'wait', reports: false, holds: () => true, makes: new Map() },
    fluxionOf: () => fluxion,
    holdsFor: () => true,
  });
  const slot: LinkedSlot = {
    ...{ root: 'server0', path: '/', fn: handler, kind: 'handler', owner: null, place: null, fluxion, own: handler },
    ...{ holder: layer, hasStub: false, replace: () => {} },
    intercept: (give) => Object.defineProperty(layer, 'handle', { get: give }),
  };
  stubs.place(slot, fluxion);
}

/** Nanoseconds for each request. Each is a turn of its own, as those of a server are. */
async function measure(layer: Layer): Promise<number> {
  const before = process.hrtime.bigint();
  await new Promise<void>((resolve) => {
    let left = REQUESTS;
    const request = (): void => {
      layer.handle();
      if (--left === 0) resolve();
      else process.nextTick(request);
    };
    request();
  });
  return Number(process.hrtime.bigint() - before) / REQUESTS;
}

const plain: Layer = { handle: handler };
const ours: Layer = { handle: handler };
stubbed(ours);
const costs: number[] = [];
for (let turn = 0; turn < TURNS; turn++) {
  const [first, second] = turn % 2 === 0 ? [plain, ours] : [ours, plain];
  const [one, other] = [await measure(first), await measure(second)];
  costs.push(turn % 2 === 0 ? other - one : one - other);
}
const shown = sorted(costs.slice(2)).map((ns) => `${Math.round(ns)}`);
process.stdout.write(`Node ${process.version}, ${REQUESTS} requests, ${TURNS} turns\n`);
process.stdout.write(
  `to decide for a request, and to measure it: ${Math.round(median(costs))} ns (${shown[0]} to ${shown.at(-1)})\n`,
);

const count = new ReplicaCount();
const replicas = Array.from({ length: 16 }, () => 0.3);
const loads = { most: 16, relieves: true, home: 0.5, replicas, starting: 0, waiting: 0 };
const begin = process.hrtime.bigint();
for (let look = 0; look < REQUESTS; look++) count.look(look / 100, loads);
const each = Number(process.hrtime.bigint() - begin) / REQUESTS;
process.stdout.write(`to decide how many of 16 replicas there are to be, ten times a second: ${Math.round(each)} ns\n`);
