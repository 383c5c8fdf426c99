/**
 * What a workload is: a small app, the requests that it is sent, and how its answers are checked. The load is a closed loop: each
 * connection sends its next request when it has its answer.
 */

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/** One connection's requests, one after the other. */
export interface Client {
  /** The next request, head and body, as it goes over the wire. */
  next(): Buffer;
  /** Is this the right answer to it? */
  check(reply: Reply): boolean;
}

/** All connections of a stream, while it is sent once. */
export interface Session {
  client(index: number): Client;
  /** What only shows when all answers are in: how many more of them were wrong. `lost` got no answer. */
  wrong?(lost: number): number;
}

export interface Stream {
  readonly name: 'light' | 'heavy' | 'all';
  readonly connections: number;
  begin(): Session;
}

export interface Workload {
  /** Its folder beside this one, with `app.js`, and `offload.js` where there is something to hand to a pool. */
  readonly name: string;
  readonly title: string;
  readonly streams: readonly Stream[];
  /** What is asked until the app answers, to know that it serves. It must change nothing. */
  readonly first: string;
}

export function get(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n`);
}

export function send(method: string, path: string, body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body);
  const type = bytes.length > 0 ? 'Content-Type: application/json\r\n' : '';
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n${type}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** Requests with answers that are known beforehand: the clients take them in turns, each beginning elsewhere. */
export function known(pairs: readonly (readonly [request: Buffer, body: string])[]): () => Session {
  return () => ({
    client: (index) => {
      let at = index;
      return {
        next: () => pairs[at % pairs.length]?.[0] ?? get('/'),
        check: ({ status, body }) => status === 200 && body.toString('latin1') === pairs[at++ % pairs.length]?.[1],
      };
    },
  });
}

/** Counts that many answers give: each must come once, and none may be left out. */
export class Counts {
  readonly #seen = new Set<number>();
  #least = Number.POSITIVE_INFINITY;
  #most = 0;

  /** Is it new? */
  take(count: unknown): boolean {
    if (typeof count !== 'number' || !Number.isInteger(count) || this.#seen.has(count)) return false;
    this.#seen.add(count);
    this.#least = Math.min(this.#least, count);
    this.#most = Math.max(this.#most, count);
    return true;
  }

  /** Counts that nobody was given, though the counter went past them. */
  get missing(): number {
    return this.#seen.size === 0 ? 0 : this.#most - this.#least + 1 - this.#seen.size;
  }
}

export function parsed({ body }: Reply): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
