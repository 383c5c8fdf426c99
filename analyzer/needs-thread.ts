/**
 * Thrown where a compile was begun on the main thread and comes to what takes a thread of its own: a configuration, which may end whatever
 * it runs in, or code that is nested deeper than the stack.
 */
export class NeedsThread extends Error {
  override readonly name = 'NeedsThread';
}
