/**
 * Reads: a fluxion's code.
 * Gives: the places where `>> id` and `-> id` stand for a callback that was cut out, in source order. A shift
 *        (`a >> b`), a loop (`n --> 0`) and what looks so in strings, comments and regular expressions is none.
 */
import { type Placeholder, scanCode } from './scan-code.js';

export type { Placeholder } from './scan-code.js';

export function findPlaceholders(code: string): readonly Placeholder[] {
  return scanCode(code).placeholders;
}
