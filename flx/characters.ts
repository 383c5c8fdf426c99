/** The characters that matter to a scanner of JavaScript text, as UTF-16 codes, and the classes that they fall into. */

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const BANG = 33;
export const DOUBLE_QUOTE = 34;
export const HASH = 35;
export const DOLLAR = 36;
export const QUOTE = 39;
export const OPEN_PAREN = 40;
export const CLOSE_PAREN = 41;
export const STAR = 42;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const DOT = 46;
export const SLASH = 47;
export const COLON = 58;
export const SEMICOLON = 59;
export const LESS = 60;
export const EQUALS = 61;
export const GREATER = 62;
export const QUESTION = 63;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const BACKTICK = 96;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
export const LINE_SEPARATOR = 0x2028;
export const PARAGRAPH_SEPARATOR = 0x2029;

const WORD_CHARACTERS = new Uint8Array(128);
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$#') {
  WORD_CHARACTERS[character.charCodeAt(0)] = 1;
}

/** Part of an identifier or number. Above ASCII that is everything but whitespace; text that is wrong there stays so. */
export function isWordCharacter(code: number): boolean {
  return code < 128 ? WORD_CHARACTERS[code] === 1 : code >= 128 && !isWideSpace(code);
}

function isWideSpace(code: number): boolean {
  if (code >= 0x2000 && code <= 0x200a) return true;
  switch (code) {
    case 0xa0:
    case 0x1680:
    case LINE_SEPARATOR:
    case PARAGRAPH_SEPARATOR:
    case 0x202f:
    case 0x205f:
    case 0x3000:
    case 0xfeff:
      return true;
    default:
      return false;
  }
}

export function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

/** As JavaScript counts lines; the layout of flx text knows LF alone. */
export function endsLine(code: number): boolean {
  return code === LF || code === CR || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR;
}
