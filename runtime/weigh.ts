/**
 * Gives: about how many bytes a message has when structured clone writes it. An estimate, since nobody else needs the
 *        number: a byte for each character up to U+00FF, else two, eight for a number, some for what holds things together.
 */
const HEADER = 2;
const NUMBER = 8;
/** Long lists are alike inside; nobody waits for the last digit. */
const MOST_ITEMS = 1_000;

export function weigh(value: unknown): number {
  return weighAll(value, new Set());
}

function weighAll(value: unknown, seen: Set<object>): number {
  switch (typeof value) {
    case 'string':
      return HEADER + value.length * (isNarrow(value) ? 1 : 2);
    case 'number':
    case 'bigint':
      return NUMBER;
    case 'object':
      return value === null ? 1 : weighObject(value, seen);
    default:
      return 1;
  }
}

/** As V8 keeps it; only its beginning is looked at. */
function isNarrow(text: string): boolean {
  const end = Math.min(text.length, 64);
  for (let at = 0; at < end; at++) if (text.charCodeAt(at) > 0xff) return false;
  return true;
}

function weighObject(value: object, seen: Set<object>): number {
  if (seen.has(value)) return HEADER;
  seen.add(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return HEADER + value.byteLength;
  if (Array.isArray(value)) return weighItems(value, seen);
  if (value instanceof Map) return weighItems([...value].flat(), seen);
  if (value instanceof Set) return weighItems([...value], seen);
  let sum = HEADER;
  for (const [name, each] of Object.entries(value)) sum += HEADER + name.length + weighAll(each, seen);
  return sum;
}

function weighItems(items: readonly unknown[], seen: Set<object>): number {
  let sum = HEADER;
  const end = Math.min(items.length, MOST_ITEMS);
  for (let at = 0; at < end; at++) sum += weighAll(items[at], seen);
  return end === 0 ? sum : Math.round((sum * items.length) / end);
}
