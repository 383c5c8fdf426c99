/**
 * Home as the owner of what is shared: runs fluxions behind cuts for replicas, one after the other, as their messages
 * come, and says what came of those that somebody waits for.
 */
import { isObject } from './codec/kinds.js';
import { CannotTravel, decode, encode } from './codec.js';
import type { Dispatcher } from './dispatch.js';
import { callHandler } from './http-bridge/call-handler.js';
import { mendStack } from './http-bridge/stack.js';
import type { RunMessage } from './messages.js';
import type { Replica } from './replicas.js';
import type { Make } from './types.js';
import { throwLater } from './uncaught.js';
import type { FluxionState } from './work.js';

export class OwnerRuns {
  readonly #dispatcher: Dispatcher;
  readonly #makes: ReadonlyMap<string, Make>;
  readonly #stateOf: (id: string) => FluxionState | null;

  constructor(dispatcher: Dispatcher, makes: ReadonlyMap<string, Make>, stateOf: (id: string) => FluxionState | null) {
    this.#dispatcher = dispatcher;
    this.#makes = makes;
    this.#stateOf = stateOf;
  }

  take(replica: Replica, message: RunMessage): void {
    const { to, exchanges } = message;
    const refs = this.#dispatcher.refsFor(replica, exchanges);
    this.#dispatcher.handedBack(message, replica);
    const make = this.#makes.get(to);
    const state = this.#stateOf(to);
    if (make === undefined || state === null) throw new Error(`"${to}" is not known at home`);
    const vars = decode(message.vars, refs) as unknown[];
    const args = decode(message.args, refs) as unknown[];
    const run = (): unknown => this.#dispatcher.countHere(state, () => callHandler(make(...vars), undefined, args));
    const call = (): unknown => this.#dispatcher.within(message, run);
    if (state.fluxion.promised) void this.#answer(replica, message, call);
    else callLoose(call);
  }

  async #answer(replica: Replica, { run, exchanges, cause }: RunMessage, call: () => unknown): Promise<void> {
    const refs = this.#dispatcher.refsFor(replica, exchanges);
    let how: 'gave' | 'threw' = 'gave';
    let value: unknown;
    try {
      value = await call();
    } catch (error) {
      how = 'threw';
      value = error;
    }
    try {
      replica.channel.send({ kind: 'result', run, how, value: encode(value, refs, 'its result') });
    } catch (error) {
      if (!(error instanceof CannotTravel)) throw error;
      // It was done, and must not be done again; the next time nothing has to travel.
      this.#dispatcher.keepCallersHome(cause === null ? exchanges : [...exchanges, cause], error.path, error.why);
      // Whoever waits there hands it on, most likely, and it comes back as what it is.
      const isKept = isObject(value);
      if (isObject(value)) this.#dispatcher.namesOf(replica).keep(value);
      const told = isKept ? encode(value, refs, 'its result') : encode(new Error(error.message));
      replica.channel.send({ kind: 'result', run, how: isKept ? how : 'threw', value: told });
    }
  }
}

/** Nobody catches what a callback throws. */
function callLoose(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    mendStack(error, undefined);
    throwLater(error);
  }
}
