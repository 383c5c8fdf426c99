/**
 * For the report: what a replica has run of each fluxion for connections of its own. There its routers call the app's functions with nothing
 * between, so it is counted as home does it: from the moment at which a router takes a function.
 */
import { callAs } from '../http-bridge/stack.js';
import type { Slot } from '../link/routers.js';
import type { CountedRuns } from '../messages.js';
import { sameShape } from '../stubs.js';
import { TurnMeter } from '../turn-meter.js';

export class RunCounts {
  readonly #counted = new Map<string, { runs: number; cpuMs: number }>();
  readonly #meter = new TurnMeter<string>({
    watches: () => false,
    computedMs: () => 0,
    ran: (fluxion, ms) => this.#ran(fluxion, ms),
  });
  /** By layer or list, and the place in it: two servers may call the same ones. */
  readonly #watched = new WeakMap<object, Set<string>>();

  watch(slot: Slot, fluxion: string): void {
    const { fn, kind, intercept } = slot;
    if (this.#isWatched(slot)) return;
    // A router takes a handler of errors for each request, to look at its parameters.
    if (kind !== 'error' && intercept !== null) intercept(() => this.#taken(fluxion, fn));
    else slot.replace(sameShape(fn, (self, args, stub) => callAs(stub, this.#taken(fluxion, fn), self, args)));
  }

  #isWatched({ holder, path }: Slot): boolean {
    const places = this.#watched.get(holder) ?? new Set();
    this.#watched.set(holder, places);
    const place = path.slice(path.lastIndexOf('/') + 1);
    const isKnown = places.has(place);
    places.add(place);
    return isKnown;
  }

  /** Since this was last asked. */
  take(): readonly CountedRuns[] {
    const counted = [...this.#counted].map(([fluxion, counts]) => ({ fluxion, ...counts }));
    this.#counted.clear();
    return counted;
  }

  #taken<F>(fluxion: string, fn: F): F {
    this.#meter.taken(fluxion);
    return fn;
  }

  #ran(fluxion: string, ms: number): void {
    const known = this.#counted.get(fluxion);
    if (known === undefined) this.#counted.set(fluxion, { runs: 1, cpuMs: ms });
    else {
      known.runs++;
      known.cpuMs += ms;
    }
  }
}
