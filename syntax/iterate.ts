/**
 * What loops and array patterns of the compiler become in the build (`build-plain.ts`).
 */

/** Null for what can be gone through by index. */
export function iterate(all: Iterable<unknown>): Iterator<unknown> | null {
  return Array.isArray(all) || ArrayBuffer.isView(all) ? null : all[Symbol.iterator]();
}

/** An array with the first so many of them. */
export function take(all: Iterable<unknown>, count: number): readonly unknown[] {
  if (Array.isArray(all)) return all;
  const found: unknown[] = [];
  if (count === 0) return found;
  for (const each of all) if (found.push(each) === count) break;
  return found;
}
