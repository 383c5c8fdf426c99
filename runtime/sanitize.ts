/**
 * `fluxion run --sanitize`: looks again and again whether what was proven holds. What a handler that may run anywhere can reach
 * was the same on all loops when it was linked; if it is not what it was then, some code changes what no code should, and the
 * analysis has not seen it.
 *
 * Reads: functions, and what they reached when they were linked.
 * Gives: what has changed, once for each function and variable, with what was run since the last look.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LinkFluxion } from '../flx/run-manifest.js';
import { type FreshReach, findDifference, type Reached } from './link/compare.js';
import type { Handler } from './link/routers.js';

export interface Watched {
  readonly fluxion: LinkFluxion;
  readonly fn: object;
  readonly reached: Reached;
}

export interface Divergence {
  readonly fluxion: LinkFluxion;
  readonly variable: string;
  /** What has run since all was well, the last one last. */
  readonly since: readonly string[];
}

/** Long lists say no more than short ones. */
const MOST_SINCE = 5;

export class Sanitizer {
  readonly #watched: readonly Watched[];
  /** Made anew for each look, as it remembers what it has seen. */
  readonly #reach: () => FreshReach;
  readonly #told = new Set<string>();
  #since: string[] = [];

  constructor(watched: readonly Watched[], reach: () => FreshReach) {
    this.#watched = watched;
    this.#reach = reach;
  }

  /** This has run, or has begun to. */
  ran(what: string): void {
    if (this.#since.at(-1) !== what) this.#since = [...this.#since.slice(1 - MOST_SINCE), what];
  }

  look(): readonly Divergence[] {
    const reach = this.#reach();
    const found: Divergence[] = [];
    for (const { fluxion, fn, reached } of this.#watched) {
      const variable = findDifference(reached, reach.of(fn));
      const key = `${fluxion.id} ${variable}`;
      if (variable === null || this.#told.has(key)) continue;
      this.#told.add(key);
      found.push({ fluxion, variable, since: this.#since });
    }
    reach.close();
    this.#since = [];
    return found;
  }
}

export function divergenceText(loop: string, { fluxion, variable, since }: Divergence): string {
  const { id, module, line } = fluxion;
  const ran = since.length === 0 ? 'nothing that was noticed' : since.join(', ');
  return `sanitize: "${variable}", which "${id}" (${module}:${line}) reads on every loop, has changed on ${loop}; run since it was as it should be: ${ran}`;
}

/** In a replica: the handler, and a look behind each of its runs. */
export function lookAfter(handler: Handler, sanitizer: Sanitizer, look: () => void): Handler {
  const watching = function (this: unknown, ...args: never[]): unknown {
    const [req, res]: readonly unknown[] = args;
    sanitizer.ran(nameOf(req));
    if (isResponse(res)) res.once('close', () => later(look));
    try {
      return Reflect.apply(handler, this, args);
    } finally {
      later(look);
    }
  };
  return watching;
}

/** At home: a look behind each request. */
export function lookAfterRequest(
  req: IncomingMessage,
  res: ServerResponse,
  sanitizer: Sanitizer,
  look: () => void,
): void {
  sanitizer.ran(nameOf(req));
  res.once('close', () => later(look));
}

// As it was before start-up could change it.
const later = setImmediate;

function isResponse(value: unknown): value is ServerResponse {
  return typeof value === 'object' && value !== null && 'once' in value && 'writableEnded' in value;
}

function nameOf(req: unknown): string {
  const read = (name: string): string => String(Reflect.get(Object(req), name) ?? '');
  return `${read('method')} ${read('originalUrl') || read('url')}`;
}
