/**
 * Gives: `res.locals` as Express 3 has it: a function that takes an object's properties over as its own. It holds nothing
 *        else, so its properties can travel, and the other side makes a function for them.
 */

const made = new WeakSet<object>();

/** How such a function's properties are named in a message. */
export const LOCALS = 'locals()';

export function isLocals(value: unknown): value is object {
  return typeof value === 'function' && (made.has(value) || value.name === 'locals');
}

export function makeLocals(properties: unknown): object {
  function locals(given: unknown): unknown {
    if (typeof given === 'object' && given !== null) {
      for (const key in given) Reflect.set(locals, key, Reflect.get(given, key));
    }
    return given;
  }
  made.add(locals);
  return Object.assign(locals, properties);
}
