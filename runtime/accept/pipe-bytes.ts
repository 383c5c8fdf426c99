/**
 * What goes through a pipe between two loops beside the sockets, as text of one byte for each character.
 *
 *     a                            a socket has arrived
 *     b 1c 3 0000004f GET / …      what was read of a connection that comes next; before it how many requests were answered on
 *                                  it where it comes from, and how often it has come so in vain
 */

/** What comes with a connection that was given back when a request had begun. */
export interface Begun {
  /** All that has been read of that request. */
  readonly bytes: Buffer;
  /** On the loop that gives it back, since it came there. */
  readonly answered: number;
  /** How often it was given back after few requests. */
  readonly vain: number;
}

export const ACKNOWLEDGED = 'a';
const BEGUN = 'b';
/** Two digits, one, eight. */
const HEAD = 11;
export const MOST_VAIN = 9;

export function textOf({ bytes, answered, vain }: Begun): string {
  const count = Math.min(answered, 0xff).toString(16).padStart(2, '0');
  return `${BEGUN}${count}${Math.min(vain, MOST_VAIN)}${bytes.length.toString(16).padStart(8, '0')}${bytes.toString('latin1')}`;
}

/** Reads may end anywhere. */
export class PipeBytes {
  #text = '';
  /** How many sockets have arrived there. */
  acknowledged = 0;
  begun: Begun | null = null;

  add(bytes: Buffer): void {
    const text = this.#text + bytes.toString('latin1');
    let at = 0;
    while (at < text.length) {
      const end = this.#take(text, at);
      if (end === null) break;
      at = end;
    }
    this.#text = text.slice(at);
  }

  /** Where it ends; null where it has not all come yet. */
  #take(text: string, at: number): number | null {
    if (text[at] === ACKNOWLEDGED) {
      this.acknowledged++;
      return at + 1;
    }
    const begin = at + 1 + HEAD;
    if (text.length < begin) return null;
    const length = Number.parseInt(text.slice(at + 4, begin), 16);
    if (text.length < begin + length) return null;
    this.begun = {
      bytes: Buffer.from(text.slice(begin, begin + length), 'latin1'),
      answered: Number.parseInt(text.slice(at + 1, at + 3), 16),
      vain: Number(text[at + 3]),
    };
    return begin + length;
  }

  takeBegun(): Begun | null {
    const { begun } = this;
    this.begun = null;
    return begun;
  }

  takeAcknowledged(): number {
    const count = this.acknowledged;
    this.acknowledged = 0;
    return count;
  }
}
