/**
 * Reads: a model, and what `require` or `import` of the real package gives.
 * Gives: what the model says that is not so, as far as that shows in this process without a server: members that are missing, calls that
 *        change what they are given or give the same object again, promises that are none.
 */
import { builtins, coreModels, packageModels } from '../../models/index.js';
import type { Call, Member, PackageModel, TypeModel, ValueRef } from '../../models/types.js';

export const allModels: readonly PackageModel[] = [...coreModels, ...packageModels, builtins];

export function typeOf(ref: ValueRef): TypeModel | undefined {
  const found = allModels.flatMap((model) =>
    Object.entries(model.types ?? {}).filter(([name]) => ref === name || ref === `${model.name}.${name}`),
  );
  return found.length > 0 ? found[0]?.[1] : undefined;
}

/** Members of a value: its own, those of its type, and those of the types that the type extends. */
export function membersOf(member: Member): { readonly [name: string]: Member } {
  const inherited: { [name: string]: Member }[] = [];
  for (let type = typeOf(member.is ?? ''); type; type = typeOf(type.extends ?? '')) inherited.unshift(type.members);
  return Object.assign({}, ...inherited, member.members);
}

export const isObject = (value: unknown): value is { readonly [name: PropertyKey]: unknown } =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** `@@iterator` is the symbol. */
export function keyOf(name: string): PropertyKey {
  return name === '@@iterator' ? Symbol.iterator : name;
}

/** Members that the value does not have, or that are no functions. */
export function missing(
  member: Member,
  value: unknown,
  path: string,
  expected: (path: string) => boolean = () => true,
): string[] {
  return Object.entries(membersOf(member)).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    if (!expected(at)) return [];
    const key = keyOf(name);
    if (!isObject(value) || !(key in value)) return [at];
    const found = read(value, key);
    if (found === null) return [];
    if ((inner.call || inner.construct) && typeof found.is !== 'function') return [`${at} is no function`];
    return inner.members ? missing(inner, found.is, at, expected) : [];
  });
}

/** Some are accessors that insist on a real receiver. */
function read(value: object, key: PropertyKey): { readonly is: unknown } | null {
  try {
    return { is: Reflect.get(value, key) };
  } catch {
    return null;
  }
}

/** What functions may take, whatever they are for. */
const SAMPLES: readonly (() => readonly unknown[])[] = [
  () => [],
  () => ['a-b c'],
  () => ['2024-05-06T07:08:09Z'],
  () => [12.5],
  () => [{ a: { b: 1 }, list: [3, 1, 2] }],
  () => [[3, { a: 1 }, [1, 2]]],
  () => ['a=1&b=2', { arrayLimit: 2 }],
  () => [{ a: 1 }, { b: { c: 2 } }],
  () => [[1, 2], [3]],
  () => [{ a: { b: 1 } }, 'a.b'],
  () => [{ a: { b: 1 } }, 'a.b', 2],
  () => [[3, 1, 2], (value: unknown) => value],
  () => [(value: unknown) => value],
];

/** Calls that nothing outside would notice, by the model. */
function isPure({ does, mutates, stateful, statefulWith, ruptures, connects, promise }: Call): boolean {
  const isSync = (ruptures ?? []).every(({ kind }) => kind === 'sync');
  return !does && !mutates && !stateful && !statefulWith && !connects && !promise && isSync;
}

/** What the functions do that the model calls pure, when they are called with samples that are frozen. */
export function impure({ name, module }: PackageModel, real: unknown): string[] {
  const found: string[] = [];
  const look = (member: Member, value: unknown, path: string, depth: number): void => {
    if (member.call && isPure(member.call) && typeof value === 'function')
      found.push(...tryOut(member.call, value, path));
    if (depth > 2 || !isObject(value)) return;
    for (const [key, inner] of Object.entries(member.members ?? {}))
      look(inner, read(value, keyOf(key))?.is, `${path}.${key}`, depth + 1);
  };
  look(module, real, name, 0);
  return [...new Set(found)];
}

function tryOut(call: Call, fn: object, path: string): string[] {
  const found: string[] = [];
  for (const sample of SAMPLES) {
    const args = freeze(sample());
    const [first, second] = [attempt(fn, args), attempt(fn, args)];
    if (first.threw !== null && CHANGED.test(first.threw))
      found.push(`${path} changes what it is given: ${first.threw}`);
    if (call.returns !== 'fresh' || call.shared || !isShared(first.gave, second.gave)) continue;
    const isGiven = args.includes(first.gave);
    found.push(isGiven ? `${path} gives what it was given` : `${path} gives the same object again`);
  }
  return found;
}

const CHANGED = /read only property|not extensible|Cannot add property|Cannot delete property|Cannot redefine property/;

/** The same object, which somebody could change. */
function isShared(one: unknown, other: unknown): boolean {
  return isObject(one) && one === other && !Object.isFrozen(one) && typeof one !== 'function';
}

function attempt(fn: object, args: readonly unknown[]): { readonly gave: unknown; readonly threw: string | null } {
  try {
    const gave: unknown = Reflect.apply(fn as () => unknown, undefined, args);
    // What it comes to is of no interest here.
    if (gave instanceof Promise) gave.catch(() => {});
    return { gave, threw: null };
  } catch (error) {
    return { gave: undefined, threw: error instanceof TypeError ? error.message : '' };
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
