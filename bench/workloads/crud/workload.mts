import { type Client, Counts, get, parsed, type Session, send, type Workload } from '../../support/workload.js';

/** Creates a note, reads it, changes it, reads it again, deletes it, and looks whether it is gone; then the next. */
class Notes implements Client {
  readonly #client: number;
  /** Of all clients: no two notes have the same. */
  readonly #ids: Counts;
  #round = 0;
  #step = 0;
  #id: unknown = 0;
  #text = '';

  constructor(client: number, ids: Counts) {
    this.#client = client;
    this.#ids = ids;
  }

  next(): Buffer {
    const path = `/notes/${this.#id}`;
    switch (this.#step) {
      case 0:
        this.#text = `note ${this.#round++} of ${this.#client}`;
        return send('POST', '/notes', JSON.stringify({ text: this.#text }));
      case 2:
        this.#text += ', changed';
        return send('PUT', path, JSON.stringify({ text: this.#text }));
      case 4:
        return send('DELETE', path);
      default:
        return get(path);
    }
  }

  check(reply: Parameters<Client['check']>[0]): boolean {
    const step = this.#step;
    this.#step = (step + 1) % 6;
    if (step === 4) return reply.status === 204;
    if (step === 5) return reply.status === 404;
    const { id, text } = parsed(reply);
    if (step === 0) {
      this.#id = id;
      return reply.status === 201 && this.#ids.take(id) && text === this.#text;
    }
    return reply.status === 200 && id === this.#id && text === this.#text;
  }
}

function begin(): Session {
  const ids = new Counts();
  return { client: (index) => new Notes(index, ids) };
}

export const crud: Workload = {
  name: 'crud',
  title: 'cheap stateful CRUD',
  streams: [{ name: 'all', connections: 32, begin }],
  first: '/notes/0',
};
