/**
 * `fluxion verify`: starts the original and the compiled program, sends both the same requests in the same order, and
 * compares what they answer, print and end with.
 *
 *     request ─┬─> node app.js          ─┐
 *              └─> fluxion run … app.js ─┴─> compared, before the next one is sent
 *
 * Reports: verify/cannot-start where there is nothing to compare.
 */
import { fileURLToPath } from 'node:url';
import { BadInput } from '../../diagnostics/bad-input.js';
import { cannotVerify } from '../../diagnostics/catalogue.js';
import type { PlacementMode } from '../types.js';
import type { Answer } from './answers.js';
import { Comparison, type Difference } from './compare.js';
import type { RequestsFile, RequestToSend } from './requests-file.js';
import { Side } from './side.js';

export interface VerifyOptions {
  /** Absolute. */
  readonly entry: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly placement: PlacementMode;
  readonly threads: string;
  readonly config: string | null;
  readonly timeoutMs: number;
}

export type Verdict =
  | { readonly kind: 'same'; readonly requests: number; readonly open: number; readonly said: string }
  | {
      readonly kind: 'different';
      /** Null: in what is left when all have been answered. */
      readonly request: RequestToSend | null;
      readonly number: number;
      readonly difference: Difference;
      readonly said: string;
    };

const CLI = fileURLToPath(new URL('../../bin/fluxion.cjs', import.meta.url));
/** Where no byte comes for so long, an answer that is not complete is one that stays open. */
const QUIET_MS = 500;
/** What comes behind an answer comes soon. */
const SAID_MS = 50;

export async function verify(options: VerifyOptions, file: RequestsFile): Promise<Verdict> {
  const verification = new Verification(options, file);
  try {
    return await verification.run();
  } finally {
    verification.end();
  }
}

interface Asked {
  readonly request: RequestToSend;
  readonly original: Answer;
  readonly compiled: Answer;
  /** It has been silent for a while, and is not complete. */
  isOpen: boolean;
}

class Verification {
  readonly #options: VerifyOptions;
  readonly #file: RequestsFile;
  readonly #original: Side;
  readonly #compiled: Side;
  readonly #comparison: Comparison;
  readonly #asked: Asked[] = [];
  #changed: () => void = () => {};

  constructor(options: VerifyOptions, file: RequestsFile) {
    this.#options = options;
    this.#file = file;
    const { entry, args, cwd, placement, threads, config } = options;
    const changed = (): void => this.#changed();
    const flags = ['--placement', placement, '--threads', threads, '--log-level', 'debug'];
    if (config !== null) flags.push('--config', config);
    this.#original = new Side('node', [entry, ...args], cwd, changed);
    this.#compiled = new Side('fluxion', [CLI, 'run', ...flags, entry, ...args], cwd, changed);
    this.#comparison = new Comparison(file.rules, this.#original, this.#compiled);
  }

  async run(): Promise<Verdict> {
    await this.#start();
    for (const [index, request] of this.#file.requests.entries()) {
      // Its predecessor was sent and not waited for.
      this.#send(request);
      if (this.#file.requests[index + 1]?.pipelined) continue;
      await this.#answered();
      const found = this.#compareAsked(false);
      if (found !== null) return found;
    }
    const open = this.#asked.length;
    await this.#stop();
    return this.#compareAsked(true) ?? this.#compareRest(open);
  }

  #send(request: RequestToSend): void {
    const original = this.#original.send(request);
    const compiled = this.#compiled.send(request);
    this.#asked.push({ request, original, compiled, isOpen: false });
  }

  // --- start and end ------------------------------------------------------------------------------------------------------

  async #start(): Promise<void> {
    const servers = Math.max(...this.#file.requests.map(({ server }) => server)) + 1;
    const isUp = (side: Side): boolean => side.ports.length >= servers || side.exit !== null;
    const isSpread = (): boolean => this.#compiled.exit !== null || this.#isSpread();
    const both = (): boolean => isUp(this.#original) && isUp(this.#compiled) && isSpread();
    const isInTime = await this.#until(both, this.#options.timeoutMs);
    const late = [this.#original, this.#compiled].find((side) => side.exit === null && side.ports.length < servers);
    if (!isInTime && late !== undefined) {
      throw new BadInput(
        cannotVerify(`after ${this.#options.timeoutMs / 1000} s the app does not listen (${late.name})`),
      );
    }
    const { exit, stderr, ports } = this.#original;
    if (exit !== null && ports.length === 0 && this.#compiled.exit?.code === exit.code) {
      throw new BadInput(cannotVerify(`the app ended with code ${exit.code} before it listened\n${stderr.trimEnd()}`));
    }
  }

  /** Threads have been started, or none ever will be. */
  #isSpread(): boolean {
    if (this.#options.placement !== 'eager') return true;
    return /^fluxion (?:debug: replica-1 is ready|\w+: .*main (?:thread|one))/m.test(this.#compiled.said);
  }

  async #stop(): Promise<void> {
    const sides = [this.#original, this.#compiled];
    await this.#said();
    for (const side of sides) side.closeConnections();
    for (const side of sides) side.signal('SIGTERM');
    await this.#until(() => sides.every(({ exit }) => exit !== null), this.#options.timeoutMs);
    if (sides.every(({ exit }) => exit !== null)) await Promise.all(sides.map((side) => side.gone()));
  }

  /** What is said behind an answer may still be on its way, and a signal would cut it off. */
  async #said(): Promise<void> {
    const begin = Date.now();
    while (Date.now() - begin < QUIET_MS) {
      await this.#until(() => false, Math.max(1, this.#lastEvent + SAID_MS - Date.now()));
      if (Date.now() - this.#lastEvent >= SAID_MS && this.#comparison.outputs() === null) return;
    }
  }

  end(): void {
    for (const side of [this.#original, this.#compiled]) {
      side.closeConnections();
      side.signal('SIGKILL');
    }
  }

  // --- what they answer ---------------------------------------------------------------------------------------------------

  /**
   * Both are complete, or both have fallen silent. Where one is complete, the other one gets time to become so. What has
   * been open for longer is given less time: an event that this request has caused comes soon.
   */
  async #answered(): Promise<void> {
    const isOver = ({ original, compiled }: Asked): boolean => isDone(original) && isDone(compiled);
    const areOver = (): boolean => this.#asked.every(isOver);
    const areNewOver = (): boolean => this.#asked.every((asked) => asked.isOpen || isOver(asked));
    const begin = Date.now();
    while (!areOver() && Date.now() - begin < this.#options.timeoutMs) {
      const isPatient = !areNewOver();
      const left = Math.max(this.#lastEvent, begin) + (isPatient ? QUIET_MS : SAID_MS) - Date.now();
      if (left <= 0 && this.#areAlike()) break;
      await this.#until(isPatient ? areNewOver : areOver, Math.max(left, SAID_MS));
    }
    for (const asked of this.#asked) asked.isOpen = !isOver(asked);
  }

  get #lastEvent(): number {
    return Math.max(this.#original.lastEvent, this.#compiled.lastEvent);
  }

  #areAlike(): boolean {
    return this.#asked.every(
      ({ original, compiled }) => original.state === compiled.state && original.body.length === compiled.body.length,
    );
  }

  #compareAsked(isEnd: boolean): Verdict | null {
    for (const asked of [...this.#asked]) {
      const { request, original, compiled } = asked;
      const areOpen = original.state === compiled.state && !isDone(original);
      if (areOpen && !isEnd) continue;
      this.#asked.splice(this.#asked.indexOf(asked), 1);
      const difference = this.#comparison.answers(original, compiled);
      if (difference !== null) return this.#different(request, difference);
      this.#original.answered(request, original);
      this.#compiled.answered(request, compiled);
    }
    return null;
  }

  #compareRest(open: number): Verdict {
    const difference = this.#comparison.outputs();
    if (difference !== null) return this.#different(null, difference);
    return { kind: 'same', requests: this.#file.requests.length, open, said: this.#compiled.said };
  }

  #different(request: RequestToSend | null, difference: Difference): Verdict {
    const number = request === null ? 0 : this.#file.requests.indexOf(request) + 1;
    return { kind: 'different', request, number, difference, said: this.#compiled.said };
  }

  // --- waiting --------------------------------------------------------------------------------------------------------------

  /** False: not in time. */
  #until(isSo: () => boolean, ms: number): Promise<boolean> {
    if (isSo()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (result: boolean): void => {
        clearTimeout(timer);
        this.#changed = () => {};
        resolve(result);
      };
      const timer = setTimeout(() => settle(isSo()), ms);
      this.#changed = () => {
        if (isSo()) settle(true);
      };
    });
  }
}

function isDone({ state }: Answer): boolean {
  return state !== 'waiting' && state !== 'open';
}
