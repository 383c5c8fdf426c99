/**
 * Text in pictures: how wide it will be, how it is shortened, how it is escaped.
 *
 * Nobody can measure a font from here, so widths are estimates on the safe side: the pictures ask for a monospaced
 * font, and no common one is wider than `ADVANCE` of its size.
 */

/** Width of one character of a monospaced font, as a part of the font size. */
const ADVANCE = 0.62;
/** Characters that are drawn in a full square: Chinese, Japanese, Korean, emoji. */
const WIDE_ADVANCE = 1.2;

export function textWidth(text: string, fontSize: number): number {
  let width = 0;
  for (const char of text) width += advance(char);
  return width * fontSize;
}

/** `text`, or as much of its beginning and end as fits: the ends are what tells generated names apart. */
export function shorten(text: string, fontSize: number, room: number): string {
  if (textWidth(text, fontSize) <= room) return text;
  const chars = [...text];
  let left = 0;
  let right = chars.length;
  let used = ADVANCE * fontSize;
  let takeLeft = true;
  while (left < right) {
    const width = advance(takeLeft ? chars[left]! : chars[right - 1]!) * fontSize;
    if (used + width > room) break;
    used += width;
    if (takeLeft) left += 1;
    else right -= 1;
    takeLeft = !takeLeft;
  }
  return `${chars.slice(0, left).join('')}…${chars.slice(right).join('')}`;
}

/** `text`, or as much of its beginning as fits. */
export function shortenEnd(text: string, fontSize: number, room: number): string {
  if (textWidth(text, fontSize) <= room) return text;
  let used = ADVANCE * fontSize;
  let kept = '';
  for (const char of text) {
    used += advance(char) * fontSize;
    if (used > room) break;
    kept += char;
  }
  return `${kept}…`;
}

/**
 * Text as a picture may hold it: one line, without the characters that XML forbids and without those that turn the
 * direction of writing, which could make a stage look like another one.
 */
export function displayText(text: string): string {
  let out = '';
  for (const char of text) out += isDisplayable(char.codePointAt(0)!) ? char : isBlank(char) ? ' ' : '\uFFFD';
  return out;
}

export function escapeXml(text: string): string {
  return displayText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** A coordinate as text: one decimal is finer than any screen, and short. */
export function num(value: number): string {
  const rounded = Math.round(value * 10) / 10;
  return String(Object.is(rounded, -0) ? 0 : rounded);
}

function advance(char: string): number {
  const code = char.codePointAt(0)!;
  if (code < 0x1100) return ADVANCE;
  return code === 0x2026 || code === 0x21bb || code === 0x00b7 ? ADVANCE : WIDE_ADVANCE;
}

function isBlank(char: string): boolean {
  return char === '\n' || char === '\r' || char === '\t';
}

function isDisplayable(code: number): boolean {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  if (code >= 0xd800 && code <= 0xdfff) return false;
  if (code === 0xfffe || code === 0xffff) return false;
  const turnsDirection =
    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0x200e || code === 0x200f;
  return !turnsDirection && code !== 0x2028 && code !== 0x2029;
}
