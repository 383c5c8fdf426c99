/**
 * Reads: the text of a function.
 * Gives: does it put something in the place of the response's methods, or change what request and response are? A
 *        session, a compression, Express's own first middleware do: they must have the real ones.
 */
const METHODS =
  'write|end|writeHead|writeHeader|setHeader|appendHeader|removeHeader|flushHeaders|addTrailers|on|once|addListener|emit';

const HOOKS: readonly RegExp[] = [
  new RegExp(`\\.\\s*(${METHODS})\\s*=(?!=)`),
  /\bon_?headers\b\s*\)?\s*\(/i,
  /\bsetPrototypeOf\s*\(/,
  /\.__proto__\s*=(?!=)/,
];

export function hooksIn(fn: object): boolean {
  const text = Function.prototype.toString.call(fn);
  return HOOKS.some((hook) => hook.test(text));
}
