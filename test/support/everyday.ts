/**
 * The seven everyday checks of an app that keeps things in memory (fixtures/apps/everyday). Each says `ok`, or what was wrong.
 * Several clients ask at once, and heavy work goes on beside, so that all loops, or all processes, have something to do.
 */
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { io, type Socket } from 'socket.io-client';

export interface Everyday {
  readonly port: number;
  /** What the app has printed so far. */
  readonly stdout: () => string;
  /** A connection for each request, or one for each client that is kept open. */
  readonly connections: 'new' | 'kept';
}

export const CHECKS = {
  'module counter': counter,
  'session kept': sessions,
  'rate limit of 5': rateLimit,
  'read after write': readAfterWrite,
  'server-sent events': serverSentEvents,
  'socket.io polling': socketIo,
  'timer ticks once': timer,
} as const satisfies { readonly [check: string]: (everyday: Everyday) => Promise<string> };

export type Results = { readonly [check: string]: string };

export async function runChecks(everyday: Everyday): Promise<Results> {
  const stop = new AbortController();
  const work = Promise.all(['a', 'b', 'c'].map((name) => keepWorking(everyday, name, stop.signal)));
  const results: { [check: string]: string } = {};
  for (const [name, check] of Object.entries(CHECKS)) {
    results[name] = await check(everyday).catch((error: unknown) => `failed: ${error}`);
  }
  stop.abort();
  const wrong = (await work).find((each) => each !== 'ok');
  return { ...results, 'work beside': wrong ?? 'ok' };
}

// --- the checks -------------------------------------------------------------------------------------------------------

async function counter(everyday: Everyday): Promise<string> {
  const clients = makeClients(everyday, 4);
  const { count: before } = await clients[0]!.json('GET', '/count');
  const counts: unknown[] = [];
  for (let round = 0; round < 5; round++) {
    for (const { count } of await Promise.all(clients.map((client) => client.json('POST', '/count'))))
      counts.push(count);
  }
  const wanted = counts.map((_, index) => Number(before) + index + 1);
  return sorted(counts) === sorted(wanted) ? close(clients) : `counted ${sorted(counts)}`;
}

async function sessions(everyday: Everyday): Promise<string> {
  const clients = makeClients(everyday, 3);
  const seen = await Promise.all(
    clients.map(async (client, index) => {
      await client.json('POST', '/account/login', { name: `client ${index}` });
      const replies: unknown[] = [];
      for (let round = 0; round < 6; round++) replies.push(await client.json('GET', '/account/me'));
      return replies;
    }),
  );
  const wanted = clients.map((_, index) =>
    [1, 2, 3, 4, 5, 6].map((visit) => ({ name: `client ${index}`, seen: visit })),
  );
  return same(seen, wanted) ? close(clients) : `it remembers ${JSON.stringify(seen[0])}`;
}

async function rateLimit(everyday: Everyday): Promise<string> {
  const clients = makeClients(everyday, 3);
  const name = `somebody ${everyday.connections}`;
  const statuses: number[] = [];
  for (let round = 0; round < 4; round++) {
    for (const client of clients) statuses.push((await client.ask('GET', '/limited', { 'X-Client': name })).status);
  }
  const allowed = statuses.filter((status) => status === 200).length;
  return allowed === 5 ? close(clients) : `${allowed} of ${statuses.length} were let through`;
}

async function readAfterWrite(everyday: Everyday): Promise<string> {
  const [writer, reader] = makeClients(everyday, 2);
  if (writer === undefined || reader === undefined) return 'no clients';
  for (let value = 0; value < 12; value++) {
    await writer.ask('PUT', `/cache/${everyday.connections}`, {}, { value });
    for (const client of [writer, reader]) {
      const { status, text } = await client.ask('GET', `/cache/${everyday.connections}`);
      if (status !== 200 || text !== JSON.stringify({ value })) return `wrote ${value}, read ${status} ${text}`;
    }
  }
  return close([writer, reader]);
}

async function serverSentEvents(everyday: Everyday): Promise<string> {
  const [speaker] = makeClients(everyday, 1);
  const listeners = await Promise.all(Array.from({ length: 6 }, () => listen(everyday.port)));
  for (const word of ['one', 'two']) await speaker!.json('POST', '/events', { word });
  const heard = (text: string): boolean => /one[\s\S]*two/.test(text);
  await within(2_000, () => listeners.every(({ text }) => heard(text())));
  const deaf = listeners.filter(({ text }) => !heard(text())).length;
  for (const { end } of listeners) end();
  return deaf === 0 ? close([speaker!]) : `${deaf} of ${listeners.length} did not hear`;
}

async function socketIo({ port, connections }: Everyday): Promise<string> {
  const options = { transports: ['polling'], forceNew: true, reconnection: false, timeout: 4_000 };
  const agent = (): object => ({ agent: connections === 'new' ? false : new http.Agent({ keepAlive: true }) });
  const sockets = Array.from({ length: 3 }, () => io(`http://127.0.0.1:${port}`, { ...options, ...agent() }));
  try {
    const lost = await Promise.all(sockets.map(connected));
    const wrong = lost.find((why) => why !== null);
    if (wrong !== undefined && wrong !== null) return wrong;
    const heard = sockets.map(() => [] as unknown[]);
    for (const [index, socket] of sockets.entries()) socket.on('said', (text: unknown) => heard[index]?.push(text));
    for (const [index, socket] of sockets.entries()) {
      const length: unknown = await socket.timeout(4_000).emitWithAck('say', 'x'.repeat(index + 1));
      if (length !== index + 1) return `was told ${length}`;
    }
    await within(2_000, () => heard.every((texts) => texts.length === 3));
    return heard.every((texts) => same(texts, ['x', 'xx', 'xxx'])) ? 'ok' : `heard ${JSON.stringify(heard)}`;
  } finally {
    for (const socket of sockets) socket.disconnect();
  }
}

function connected(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(null));
    socket.once('connect_error', ({ message }) => resolve(message));
    socket.once('disconnect', resolve);
  });
}

async function timer({ stdout }: Everyday): Promise<string> {
  const ticks = (): string[] => [...stdout().matchAll(/^tick (\d+)$/gm)].map(([, tick]) => tick ?? '');
  await within(5_000, () => ticks().length >= 4);
  const heard = ticks();
  return same(
    heard,
    heard.map((_, index) => String(index + 1)),
  )
    ? 'ok'
    : `ticked ${heard.join(' ')}`;
}

/** Until all checks are through; at least once. */
async function keepWorking(everyday: Everyday, name: string, stop: AbortSignal): Promise<string> {
  const [client] = makeClients(everyday, 1);
  do {
    const { primes } = await client!.json('GET', '/work/primes/200000');
    const { text } = await client!.ask('GET', `/work/digest/${name}`);
    if (primes !== 17984 || !/^[0-9a-f]{64}$/.test(text)) return `${primes} primes, digest ${text}`;
    await setTimeout(5);
  } while (!stop.aborted);
  return close([client!]);
}

// --- clients ----------------------------------------------------------------------------------------------------------

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A browser, as far as it matters: it keeps its cookie, and its connection if it may. */
class Client {
  readonly #port: number;
  readonly #agent: http.Agent | false;
  #cookie = '';

  constructor({ port, connections }: Everyday) {
    this.#port = port;
    this.#agent = connections === 'new' ? false : new http.Agent({ keepAlive: true, maxSockets: 1 });
  }

  async json(method: string, path: string, body?: object): Promise<{ readonly [name: string]: unknown }> {
    return JSON.parse((await this.ask(method, path, {}, body)).text);
  }

  ask(method: string, path: string, headers: http.OutgoingHttpHeaders = {}, body?: object): Promise<Reply> {
    const own = { ...headers, ...(this.#cookie === '' ? {} : { Cookie: this.#cookie }) };
    const typed = body === undefined ? own : { ...own, 'Content-Type': 'application/json' };
    return new Promise((resolve, reject) => {
      const options = { port: this.#port, method, path, headers: typed, agent: this.#agent };
      const request = http.request(options, (res) => {
        const [given] = res.headers['set-cookie'] ?? [];
        if (given !== undefined) this.#cookie = given.split(';')[0] ?? '';
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
        res.on('error', reject);
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  end(): void {
    if (this.#agent !== false) this.#agent.destroy();
  }
}

function makeClients(everyday: Everyday, count: number): readonly Client[] {
  return Array.from({ length: count }, () => new Client(everyday));
}

function close(clients: readonly Client[]): 'ok' {
  for (const client of clients) client.end();
  return 'ok';
}

interface Listener {
  text(): string;
  end(): void;
}

/** It hears all that is said from now on. */
function listen(port: number): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path: '/events', agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.once('data', () => resolve({ text: () => text, end: () => request.destroy() }));
    });
    request.on('error', reject);
  });
}

/** What never comes must not be waited for: these apps may be wrong. */
async function within(ms: number, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + ms; !isSo() && Date.now() < end; ) await setTimeout(10);
}

function sorted(values: readonly unknown[]): string {
  return values
    .map(Number)
    .sort((a, b) => a - b)
    .join(' ');
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
