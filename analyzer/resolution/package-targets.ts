/**
 * Reads:   the `exports` or `imports` field of a package.json, and what is asked for (`.`, `./sub`, `#name`).
 * Gives:   the target that Node takes under the given conditions. A pure function of the two.
 */
export type Target =
  /** A path within the package, as a relative URL: `./lib/x.js`. */
  | { readonly kind: 'path'; readonly url: string }
  /** Another package or a core module, for `imports` only. */
  | { readonly kind: 'bare'; readonly specifier: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'invalid'; readonly reason: string };

export type Conditions = ReadonlySet<string>;

export function exportsTarget(exports: unknown, subpath: string, conditions: Conditions): Target {
  const table = subpathTable(exports);
  if (table === 'mixed') return invalid('its "exports" mixes paths and conditions');
  return tableTarget(table, subpath, { internal: false, conditions });
}

export function importsTarget(imports: unknown, name: string, conditions: Conditions): Target {
  if (!isRecord(imports)) return NONE;
  return tableTarget(imports, name, { internal: true, conditions });
}

type Table = Readonly<Record<string, unknown>>;

interface Asked {
  /** In `imports`, where a target may be another package. */
  readonly internal: boolean;
  readonly conditions: Conditions;
}

const NONE: Target = { kind: 'none' };

function invalid(reason: string): Target {
  return { kind: 'invalid', reason };
}

/** `"exports": "./main.js"` and `"exports": {"import": …}` are short for the table with the one key `.`. */
function subpathTable(exports: unknown): Table | 'mixed' {
  if (!isRecord(exports)) return { '.': exports };
  const keys = Object.keys(exports);
  const paths = keys.filter((key) => key.startsWith('.')).length;
  if (paths === keys.length) return exports;
  return paths === 0 ? { '.': exports } : 'mixed';
}

function tableTarget(table: Table, wanted: string, asked: Asked): Target {
  if (Object.hasOwn(table, wanted) && !wanted.includes('*') && !wanted.endsWith('/')) {
    return withoutNull(chooseTarget(table[wanted], null, asked));
  }
  const pattern = bestPattern(Object.keys(table), wanted);
  if (pattern === null) return NONE;
  return withoutNull(chooseTarget(table[pattern.key], pattern.match, asked));
}

/** Of the patterns that match, the one with the longest text before its star; of these the longest. */
function bestPattern(keys: readonly string[], wanted: string): { key: string; match: string } | null {
  let best: { key: string; match: string; star: number } | null = null;
  for (const key of keys) {
    const star = key.indexOf('*');
    if (star === -1 || star !== key.lastIndexOf('*')) continue;
    const tail = key.slice(star + 1);
    if (wanted.length < key.length || !wanted.startsWith(key.slice(0, star)) || !wanted.endsWith(tail)) continue;
    if (best !== null && (best.star > star || (best.star === star && best.key.length >= key.length))) continue;
    best = { key, star, match: wanted.slice(star, wanted.length - tail.length) };
  }
  return best;
}

/** `null` says "closed on purpose": it ends the search, where `none` lets the next condition have its turn. */
type Choice = Target | null;

function withoutNull(choice: Choice): Target {
  return choice ?? NONE;
}

function chooseTarget(target: unknown, match: string | null, asked: Asked): Choice {
  if (typeof target === 'string') return stringTarget(target, match, asked);
  if (Array.isArray(target)) return firstValid(target, match, asked);
  if (target === null) return null;
  if (isRecord(target)) return conditionTarget(target, match, asked);
  return invalid(`its package.json has ${JSON.stringify(target) ?? 'nothing'} where a path must be`);
}

/** A list is for what a Node version does not understand: the first target that is valid counts, even if no file is there. */
function firstValid(targets: readonly unknown[], match: string | null, asked: Asked): Choice {
  let last: Choice = null;
  for (const target of targets) {
    const choice = chooseTarget(target, match, asked);
    if (choice?.kind === 'path' || choice?.kind === 'bare') return choice;
    if (choice?.kind !== 'none') last = choice;
  }
  return last;
}

function conditionTarget(targets: Table, match: string | null, asked: Asked): Choice {
  const keys = Object.keys(targets);
  if (keys.some((key) => /^(?:0|[1-9]\d*)$/.test(key))) return invalid('its package.json has a number as a condition');
  for (const key of keys) {
    if (key !== 'default' && !asked.conditions.has(key)) continue;
    const choice = chooseTarget(targets[key], match, asked);
    if (choice?.kind !== 'none') return choice;
  }
  return NONE;
}

function stringTarget(target: string, match: string | null, asked: Asked): Target {
  const filled = match === null ? target : target.replaceAll('*', () => match);
  if (target.startsWith('./')) {
    const leavesPackage = hasForbiddenSegment(target.slice(2)) || (match !== null && hasForbiddenSegment(match));
    return leavesPackage ? invalidTarget(filled) : { kind: 'path', url: filled };
  }
  const bare = asked.internal && !target.startsWith('../') && !target.startsWith('/') && !URL.canParse(target);
  return bare ? { kind: 'bare', specifier: filled } : invalidTarget(filled);
}

function invalidTarget(target: string): Target {
  return invalid(`its package.json leads to "${target}", which Node does not allow there`);
}

function hasForbiddenSegment(path: string): boolean {
  return path.split(/[\\/]/).some((segment) => {
    const plain = decodeSafely(segment).toLowerCase();
    return plain === '.' || plain === '..' || plain === 'node_modules';
  });
}

function decodeSafely(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function isRecord(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
