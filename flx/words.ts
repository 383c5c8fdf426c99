/**
 * The words of the fluxional language: what an identifier, a name and a bare module path look like, and how anything
 * else is quoted. Printer and parser both read this, so that they agree on what needs quotes.
 */

const IDENTIFIER = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`;
/** `count`, `this.count`, `this.#count`, `exports.users`. */
const NAME = String.raw`#?${IDENTIFIER}(?:\.#?${IDENTIFIER})*`;

const WHOLE_IDENTIFIER = new RegExp(`^${IDENTIFIER}$`, 'u');
const WHOLE_NAME = new RegExp(`^${NAME}$`, 'u');
const BARE_PATH = /^[\p{L}\p{N}_$~+./-]+$/u;

/** Sticky: set `lastIndex`, then `exec`. */
export function identifierPattern(): RegExp {
  return new RegExp(IDENTIFIER, 'uy');
}

export function namePattern(): RegExp {
  return new RegExp(NAME, 'uy');
}

export function isIdentifier(word: string): boolean {
  return WHOLE_IDENTIFIER.test(word);
}

export function printName(name: string): string {
  return WHOLE_NAME.test(name) ? name : JSON.stringify(name);
}

export function printPath(path: string): string {
  return BARE_PATH.test(path) ? path : JSON.stringify(path);
}
