/**
 * Gives: the call of a handler in a replica, with what is below it at home. Where that is not known, frames of this file mark in
 *        stack traces where the handler's own end.
 */
import { callFrom } from './calls-from.js';

export type Handler = (this: unknown, ...args: unknown[]) => unknown;

export function callHandler(
  handler: Handler,
  receiver: unknown,
  args: unknown[],
  below: readonly string[] = [],
): unknown {
  const called = callFrom(below, handler.bind(receiver, ...args));
  if (called !== null) return called.result;
  return handler.apply(receiver, args);
}
