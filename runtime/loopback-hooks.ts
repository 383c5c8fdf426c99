/**
 * Reads: the text of a function.
 * Gives: does it put something in the place of the response's methods, or change what request and response are? A
 *        session, a compression, Express's own first middleware do: they must have the real ones.
 */
const METHODS =
  'write|end|writeHead|writeHeader|setHeader|appendHeader|removeHeader|flushHeaders|addTrailers|on|once|addListener|emit';

const PART = '\\b(req|res|request|response)\\b';
const FUNCTION = 'async\\b|function\\b|\\([^()]*\\)\\s*=>|\\w+\\s*=>';

const HOOKS: readonly RegExp[] = [
  new RegExp(`\\.\\s*(${METHODS})\\s*=(?!=)`),
  /\bon_?headers\b\s*\)?\s*\(/i,
  /\bsetPrototypeOf\s*\(/,
  /\.__proto__\s*=(?!=)/,
  // A function or an accessor that is put there has the function's own request in its variables.
  new RegExp(`${PART}\\s*(\\.\\s*\\w+|\\[[^\\]]+\\])\\s*=\\s*(${FUNCTION})`),
  new RegExp(`(definePropert(y|ies)|__define[GS]etter__)\\s*\\(\\s*${PART}\\b|${PART}\\.__define`),
];

/** Texts of those that turned out to. */
const found = new Set<string>();
/** They stay in their places, where they are looked at with each request. */
const known = new WeakSet<object>();

export function hooksIn(fn: object): boolean {
  if (known.has(fn)) return true;
  const text = Function.prototype.toString.call(fn);
  const has = found.has(text) || HOOKS.some((hook) => hook.test(text));
  if (has) known.add(fn);
  return has;
}

/** What has the same text does the same. */
export function foundHooksIn(fn: object): void {
  found.add(Function.prototype.toString.call(fn));
}
