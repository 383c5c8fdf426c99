/**
 * Reads: how much the main loop has to do, once the app serves.
 * Gives: the moment from which it is worth looking for what could run elsewhere.
 *
 * Until then the app pays nothing for that: nobody looks before a request has come (or the program has passed a cut), and
 * nobody goes on looking when there is nothing more to do.
 *
 *     asleep ── a request, a cut ──> looks every 100 ms ── has been busy ──> begins
 *       ^                                    └── has nothing to do ──┐
 *       └────────────────────────────────────────────────────────────┘
 */
import channels = require('node:diagnostics_channel');
import timers = require('node:timers');

const LOOK_EVERY_MS = 100;
/** Busy for so long, what was earlier counting less: one long run, or about a tenth of the time. */
const ENOUGH_MS = 100;
const KEPT = 0.9;
const NOTHING_MS = 1;

const { setTimeout } = timers;

/** What it needs of the world; tests have one of their own. */
interface World {
  /** For how long the loop has been busy since it began, in milliseconds. */
  readonly busyMs: () => number;
  readonly later: (look: () => void, ms: number) => void;
  /** Calls back at requests until it is called itself. */
  readonly hear: (heard: () => void) => () => void;
}

const REQUESTS = 'http.server.request.start';

const WORLD: World = {
  busyMs: () => performance.eventLoopUtilization().active,
  later: (look, ms) => void setTimeout(look, ms).unref(),
  hear(heard) {
    channels.subscribe(REQUESTS, heard);
    return () => void channels.unsubscribe(REQUESTS, heard);
  },
};

/** Gives what to call when there is work that comes by no request. `begin` is called once. */
function awaitWork(begin: () => void, world: World = WORLD): () => void {
  let isAwake = false;
  let isOver = false;
  let last = 0;
  let busy = 0;
  let deafen = world.hear(wake);
  return wake;

  function wake(): void {
    if (isAwake || isOver) return;
    isAwake = true;
    deafen();
    last = world.busyMs();
    world.later(look, LOOK_EVERY_MS);
  }

  function look(): void {
    const now = world.busyMs();
    const since = now - last;
    last = now;
    busy = busy * KEPT + since;
    if (busy >= ENOUGH_MS) {
      isOver = true;
      begin();
    } else if (since < NOTHING_MS) {
      isAwake = false;
      deafen = world.hear(wake);
    } else world.later(look, LOOK_EVERY_MS);
  }
}

export = { awaitWork };
