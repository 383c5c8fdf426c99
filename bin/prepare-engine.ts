/**
 * How V8 is to run a compile: most compiles are over before optimised code has paid for its own making. An engine prints an
 * error for a setting that it does not know, so each gets what it is known to have.
 */
import { setFlagsFromString } from 'node:v8';

interface Settings {
  readonly first: readonly string[];
  /** For compiles that take long. */
  readonly later: readonly string[];
}

const LATER_MS = 1500;

/**
 * By V8's version. Node 20, measured on 200 files:
 *
 *     interrupt-budget       only what runs long is optimised: a third less time than with Node's own setting, half of the
 *                            processor's, a sixth less than without any optimised code
 *     heap-growing-percent   garbage is collected when the heap has grown by so much, not when it has doubled. 20 take a
 *                            tenth less memory than 40 on 1,000 files, for no time that can be measured; 10 no less
 *
 * Node 24 counts calls instead, and has a second compiler, Maglev, whose code takes room: a fifth less memory on 1,000 files,
 * and another fifth by the second of these. With less than 50 it takes a few MB less, and more time.
 */
const settings: ReadonlyMap<number, Settings> = new Map([
  [11, { first: ['--interrupt-budget=4000000', '--heap-growing-percent=20'], later: [] }],
  [
    13,
    {
      first: [
        '--invocation-count-for-turbofan=60000',
        '--invocation-count-for-maglev=8000',
        '--heap-growing-percent=50',
      ],
      later: ['--invocation-count-for-turbofan=3000', '--invocation-count-for-maglev=400'],
    },
  ],
]);
const forOthers: Settings = { first: ['--no-opt'], later: ['--opt'] };

export function prepareEngine(): void {
  const { first, later } = settings.get(Number.parseInt(process.versions.v8, 10)) ?? forOthers;
  for (const flag of first) setFlagsFromString(flag);
  if (later.length > 0)
    setTimeout(() => {
      for (const flag of later) setFlagsFromString(flag);
    }, LATER_MS).unref();
}
