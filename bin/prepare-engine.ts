/**
 * How V8 is to run a compile: most compiles are over before optimised code has paid for its own making. An engine prints an
 * error for a setting that it does not know, so each gets what it is known to have.
 */
import { setFlagsFromString } from 'node:v8';

interface Settings {
  readonly first: readonly string[];
  /** From the end of loading on. */
  readonly analysing: readonly string[];
  /** For compiles that take long. */
  readonly later: readonly string[];
}

/** Of the processor's time: the clock would count what others do meanwhile. */
const LATER_MS = 2500;
const LOOK_EVERY_MS = 250;

/**
 * What the optimising compiler needs while it works stays with the process, for each thread that it works on: the more it copies into a
 * function, the more. With this, 2,000 files take 6 MB less, and no more of the processor's time.
 */
const littleInlining = ['--max-inlined-bytecode-size-cumulative=100', '--max-inlined-bytecode-size=60'];

/**
 * How long a function runs until it is optimised, which another core does. Loading is little code that runs for every character and node,
 * analysing is much that runs seldom: the first pays for its optimised code soon, the second late, until a compile is long.
 *
 *     Node 20      by time (`interrupt-budget`). Beside 4,000,000 all the time 200 files take an eighth less time by the clock, 1,000 a
 *                  quarter, and a tenth less of the processor's
 *     Node 22      by calls. Beside nothing optimised 200 files take a fifth less time, 1,000 half
 *     Node 24, 26  a second compiler, Maglev, does what pays, until a compile is long. Beside both, late, 200 files take a tenth less of the
 *                  processor's time
 *
 * `heap-growing-percent`: garbage is collected when the heap has grown by so much, not when it has doubled. V8 takes no smaller steps than 8 MB, so
 * this is for large programs: on Node 20 5,000 files take 8 % less memory than with 20, 1,000 files as much; on Node 24 1,000 files a fifth less
 * than without, and with less than 50 a few MB less, and more time.
 */
const byTime: Settings = {
  first: [...littleInlining, '--heap-growing-percent=10', '--interrupt-budget=300000'],
  analysing: ['--interrupt-budget=1000000'],
  later: ['--interrupt-budget=300000'],
};
const byCalls: Settings = {
  first: [...littleInlining, '--heap-growing-percent=10', '--invocation-count-for-turbofan=6000'],
  analysing: ['--invocation-count-for-turbofan=25000'],
  later: ['--invocation-count-for-turbofan=6000'],
};
const withMaglev: Settings = {
  first: [...littleInlining, '--heap-growing-percent=50', '--no-opt', '--invocation-count-for-maglev=4000'],
  analysing: [],
  later: ['--opt', '--invocation-count-for-turbofan=3000', '--invocation-count-for-maglev=400'],
};
/** By V8's version. */
const settings: ReadonlyMap<number, Settings> = new Map([
  [11, byTime],
  [12, byCalls],
  [13, withMaglev],
  [14, withMaglev],
]);
const forOthers: Settings = { first: ['--no-opt'], analysing: [], later: ['--opt'] };

/** Gives what has to be called now and then where the thread is busy all the time. */
export function prepareEngine(): () => void {
  const { first, later } = settingsHere();
  set(first);
  // Threads that are made from now on find the collector as `gc`.
  setFlagsFromString('--expose-gc');
  const look = (): void => {
    const { user, system } = process.cpuUsage();
    if ((user + system) / 1000 < LATER_MS) return;
    clearInterval(timer);
    set(later);
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return look;
}

/** All modules are loaded. Settings are those of the process: any thread may say so. */
export function analyses(): void {
  set(settingsHere().analysing);
}

function settingsHere(): Settings {
  return settings.get(Number.parseInt(process.versions.v8, 10)) ?? forOthers;
}

function set(flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}
