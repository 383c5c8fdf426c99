/**
 * Reads: the stacks of an Express 4 app: each layer asks a regular expression whether a path is for it.
 * Gives: to those expressions that begin with plain characters, an `exec` that looks at these first. Most layers are passed over by
 *        that, where an app has many. Answers and their order are the same: a path that does not begin so matches nothing.
 *
 * Express 5 keeps its expressions where nobody finds them.
 */
interface Layer {
  readonly regexp?: unknown;
  readonly handle?: unknown;
}

const { exec: native } = RegExp.prototype;

function apply(app: object): void {
  lookAt(Object.getOwnPropertyDescriptor(app, '_router')?.value, new Set());
}

function lookAt(router: unknown, seen: Set<unknown>): void {
  if (typeof router !== 'function' || seen.has(router)) return;
  seen.add(router);
  const stack: unknown = Object.getOwnPropertyDescriptor(router, 'stack')?.value;
  if (!Array.isArray(stack)) return;
  for (const layer of stack as readonly Layer[]) {
    if (typeof layer !== 'object' || layer === null) continue;
    if (layer.regexp instanceof RegExp) quicken(layer.regexp);
    // What stands there as an accessor is not asked for nothing.
    lookAt(Object.getOwnPropertyDescriptor(layer, 'handle')?.value, seen);
  }
}

function quicken(regexp: RegExp): void {
  const { flags } = regexp;
  const isPlain = Object.getPrototypeOf(regexp) === RegExp.prototype && Object.isExtensible(regexp);
  if (!isPlain || Object.hasOwn(regexp, 'exec') || (flags !== '' && flags !== 'i')) return;
  const prefix = prefixOf(regexp.source);
  // All paths begin with a slash.
  if (prefix.length < 2) return;
  const lower = codesOf(flags === 'i' ? prefix.toLowerCase() : prefix);
  const upper = codesOf(flags === 'i' ? prefix.toUpperCase() : prefix);
  const exec = function exec(this: unknown, path: string): RegExpExecArray | null {
    const now = RegExp.prototype.exec;
    const isAsEver = now === native && this === regexp && typeof path === 'string';
    return isAsEver && !beginsWith(path, lower, upper) ? null : Reflect.apply(now, this, [path]);
  };
  Object.defineProperty(regexp, 'exec', { value: exec, configurable: true, writable: true });
}

/** From behind, as many paths begin alike. */
function beginsWith(path: string, lower: readonly number[], upper: readonly number[]): boolean {
  if (path.length < lower.length) return false;
  for (let at = lower.length - 1; at >= 0; at--) {
    const code = path.charCodeAt(at);
    if (code !== lower[at] && code !== upper[at]) return false;
  }
  return true;
}

function codesOf(text: string): readonly number[] {
  return Array.from(text, (char) => char.charCodeAt(0));
}

/** The characters that all begin with that match, as far as they are plain; of those that ignore case no others are like ASCII's letters. */
function prefixOf(source: string): string {
  if (source[0] !== '^' || hasAlternatives(source)) return '';
  let prefix = '';
  for (let at = 1; at < source.length; ) {
    const isEscaped = source[at] === '\\';
    const char = source[isEscaped ? at + 1 : at] ?? '';
    if (!(isEscaped ? ESCAPED : PLAIN).test(char)) break;
    at += isEscaped ? 2 : 1;
    if (REPEATED.test(source[at] ?? '')) break;
    prefix += char;
  }
  return prefix;
}

const PLAIN = /^[A-Za-z0-9_/%~-]$/;
const ESCAPED = /^[/.\-+*?()[\]{}|^$]$/;
const REPEATED = /^[?*+{]$/;

/** Of the whole: what stands in groups comes later. */
function hasAlternatives(source: string): boolean {
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') at++;
    else if (isInClass) isInClass = char !== ']';
    else if (char === '[') isInClass = true;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

export = { apply };
