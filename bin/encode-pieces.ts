const PIECE_BYTES = 1 << 16;
const encoder = new TextEncoder();

/**
 * Reads: a text in pieces; `spent`, to which buffers of bytes may be given back that have been written.
 * Gives: the same as bytes, in pieces of one size: those of the text may be as short as lines, but to join them would make all of it anew.
 */
export function* encodePieces(
  pieces: Iterable<string>,
  spent: ArrayBuffer[],
): Generator<Uint8Array<ArrayBuffer>, void> {
  const empty = (): Uint8Array<ArrayBuffer> => new Uint8Array(spent.pop() ?? new ArrayBuffer(PIECE_BYTES));
  let bytes = empty();
  let used = 0;
  for (const piece of pieces) {
    for (let rest = piece; rest !== ''; ) {
      const { read, written } = encoder.encodeInto(rest, bytes.subarray(used));
      used += written;
      rest = rest.slice(read);
      if (rest === '') break;
      yield bytes.subarray(0, used);
      bytes = empty();
      used = 0;
    }
  }
  if (used > 0) yield bytes.subarray(0, used);
}
