/** What must hold if our own code is right. A failure is a bug in Fluxion, never a fault of the user's program. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** The message may be a function, for places where building it would cost something on every call. */
export function invariant(condition: unknown, message: string | (() => string)): asserts condition {
  if (condition) return;
  throw new InvariantError(typeof message === 'string' ? message : message());
}

/** Closes a switch over a union: tsc rejects the call as soon as a case is missing. */
export function unreachable(value: never): never {
  throw new InvariantError(`no case for ${describe(value)}`);
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return typeof value;
  }
}
