/**
 * Reads: request, response and `next`, and what a handler is called with beside them.
 * Gives: the arguments of its call: the error comes first for a handler of errors, value and name of a parameter come last.
 */
import type { Args } from './names.js';

export function callArgs(exchange: readonly unknown[], args: Args | undefined): unknown[] {
  if (args === undefined) return [...exchange];
  return 'error' in args ? [args.error, ...exchange] : [...exchange, ...Object.values(args)];
}
