/**
 * Whether it pays that replicas take connections of one server, and why not. Pays unless most of what is asked is for home alone
 * (share.ts), or what runs on replicas holds up others there (long-runs.ts).
 */
import type { Server } from 'node:http';
import type { Log } from '../log.js';
import { Asked } from './asked.js';
import { LongRuns } from './long-runs.js';
import type { Stack, Stay } from './meets.js';
import { Share } from './share.js';

/** What has come by replicas since the beginning. */
export interface CameByReplicas {
  readonly answeredElsewhere: number;
  readonly far: { readonly answered: number };
  readonly longElsewhere: number;
}

const LONG = 'long work holds up the threads that take connections';
const HOMES = 'most of what is asked has to run on the main thread';

export class Worth {
  pays = false;
  /** Null where it pays, or is not known yet. */
  whyNot: string | null = null;
  readonly #name: string;
  readonly #log: Log;
  readonly #asked: Asked;
  readonly #share: Share;
  readonly #longRuns = new LongRuns();

  constructor(server: Server, name: string, stack: Stack, stays: readonly Stay[], log: Log) {
    this.#name = name;
    this.#log = log;
    this.#asked = new Asked(server, stack, stays);
    this.#share = new Share(stays.length > 0);
  }

  /** `isBusy`: what is asked of home matters now. */
  look(now: number, { answeredElsewhere, far, longElsewhere }: CameByReplicas, isBusy: boolean): void {
    const isLong = this.#longRuns.look(now, longElsewhere) === 'holds';
    const requests = answeredElsewhere + far.answered;
    const verdict = this.#share.look(now, this.#asked, { requests, homes: far.answered });
    if (verdict === 'looks' && isBusy) this.#asked.look();
    else this.#asked.end();
    this.#tell(isLong ? LONG : verdict === 'holds' ? HOMES : null);
    this.pays = verdict === 'pays' && !isLong;
  }

  end(): void {
    this.#asked.end();
  }

  #tell(why: string | null): void {
    if (why !== null && why !== this.whyNot)
      this.#log.info(`${this.#name}: ${why}; the main thread accepts alone for a while`);
    this.whyNot = why;
  }
}
