/**
 * Reads: a server of home's, and which of its functions have to run there.
 * Gives: how many of the requests that come are for these, counted only while somebody wants to know. Node tells of each request before
 *        the app has it, so nothing of this shows in the server.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server } from 'node:http';
import fastPath from '../fast-path/born-as-express.cjs';
import { Meets, type Stack, type Stay } from './meets.js';

const CHANNEL = 'http.server.request.start';

export class Asked {
  requests = 0;
  /** Of these, those that only home can answer. */
  homes = 0;
  readonly #server: Server;
  readonly #meets: Meets;
  #isLooking = false;

  constructor(server: Server, stack: Stack, stays: readonly Stay[]) {
    this.#server = server;
    this.#meets = new Meets(stack, stays);
    fastPath.isHarmless(this.#count);
  }

  /** From now on, if it does not look already. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.requests = 0;
    this.homes = 0;
    subscribe(CHANNEL, this.#count);
  }

  end(): void {
    if (this.#isLooking) unsubscribe(CHANNEL, this.#count);
    this.#isLooking = false;
  }

  readonly #count = (message: unknown): void => {
    const { server, request } = message as { readonly server: Server; readonly request: IncomingMessage };
    if (server !== this.#server) return;
    this.requests++;
    if (this.#meets.mayMeet(request.method ?? '', request.url ?? '')) this.homes++;
  };
}
