/** Gives: the call of a handler in a replica. Frames of this file mark in stack traces where the handler's own end. */

export type Handler = (this: unknown, ...args: unknown[]) => unknown;

export function callHandler(handler: Handler, receiver: unknown, args: unknown[]): unknown {
  return handler.apply(receiver, args);
}
