/**
 * A chat in a picture: every open client is sent each frame, whoever posts it and on whatever loop its body was read. The bytes
 * are compared with those under node, and decoded.
 */
import http, { type ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findApp } from './support/fixture.js';
import { decodeGif } from './support/gif.js';
import { inTurn } from './support/in-turn.js';
import { PLACEMENTS } from './support/placements.js';
import { runsAway, ServedApp } from './support/served-app.js';

const app = findApp('gif-chat');
const require = createRequire(join(app.folder, app.entry));
const { width, height }: { readonly width: number; readonly height: number } = require('./lib/size');
const draw: (text: string) => Uint8ClampedArray = require('./lib/draw');

/** A flag of three colours. */
const FLAG = Array.from({ length: width * height }, (_, at) => {
  const x = at % width;
  return x < width / 3 ? [200, 0, 0, 255] : x < (width * 2) / 3 ? [0, 180, 0, 255] : [0, 0, 160, 255];
});

/** Somebody who looks at the picture. */
class Viewer {
  readonly #chunks: Buffer[] = [];
  readonly #request: ClientRequest;
  #heard: () => void = () => {};
  isOver = false;

  constructor(port: number) {
    this.#request = http.get({ port, path: '/image.gif', agent: false }, (res) => {
      res.on('data', (chunk: Buffer) => {
        this.#chunks.push(chunk);
        this.#heard();
      });
      res.on('close', () => {
        this.isOver = true;
        this.#heard();
      });
    });
    this.#request.on('error', () => {});
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => (this.#heard = resolve));
  }

  has(frames: number): Promise<void> {
    return this.until(() => decodeGif(this.bytes).frames.length >= frames);
  }

  leave(): void {
    this.#request.destroy();
  }
}

interface Chat {
  /** For each viewer, what it was sent. */
  readonly seen: readonly string[];
  readonly replies: readonly unknown[];
  readonly computed: readonly unknown[];
}

async function chat(t: ExecutionContext, placement: string): Promise<Chat> {
  const served = await ServedApp.serveFixture(t, app, PLACEMENTS[placement] ?? { flags: null });
  const replies: unknown[] = [];
  const computed: unknown[] = [];
  const ask = async (method: string, path: string, body: string | null = null): Promise<void> => {
    const headers = body === null ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const { status, text } = await served.request(path, { method, headers, agent: false }, body);
    replies.push([method, path, status, text]);
  };
  // All loops have something to do meanwhile.
  const others = (): Promise<unknown> =>
    Promise.all([
      ...['hello', 'that is long: it fills two lines', 'ä'].map((text) => served.get(`/preview/${encodeURI(text)}`)),
      ...[10_000, 20_000].map((size) => served.request('/preview', { method: 'POST' }, 'x'.repeat(size))),
    ]).then((all) => computed.push(...all.map(({ status, text }) => [status, text])));

  const early = Array.from({ length: 6 }, () => new Viewer(served.port));
  await Promise.all(early.map((viewer) => viewer.until(() => viewer.bytes.length >= 6)));
  await ask('GET', '/');
  await Promise.all([others(), ask('POST', '/image/text', 'Hello there')]);
  await Promise.all(early.map((viewer) => viewer.has(1)));
  early.pop()?.leave();
  const late = Array.from({ length: 2 }, () => new Viewer(served.port));
  await Promise.all(late.map((viewer) => viewer.until(() => viewer.bytes.length >= 6)));
  await Promise.all([others(), ask('POST', '/image/json', JSON.stringify(FLAG))]);
  await Promise.all([...early.map((viewer) => viewer.has(2)), ...late.map((viewer) => viewer.has(1))]);
  await ask('POST', '/image/text', 'x'.repeat(2000));
  await ask('POST', '/image/json', '[[0,0,0,255]]');
  await ask('POST', '/image/json', '[[');
  await ask('GET', '/image.png');
  await Promise.all([others(), ask('POST', '/image/text', 'Is it gone?')]);
  await Promise.all([...early.map((viewer) => viewer.has(3)), ...late.map((viewer) => viewer.has(2))]);
  await ask('POST', '/image/close');
  await Promise.all([...early, ...late].map((viewer) => viewer.until(() => viewer.isOver)));

  if (placement === 'eager') {
    const report = await served.report();
    t.true(report.loops.filter(({ id, requests }) => id !== 'home' && requests > 0).length === 2);
    for (const id of ['readBody', 'picture', 'brightness']) t.true(runsAway(report, id) > 0, id);
  }
  return { seen: [...early, ...late].map(({ bytes }) => bytes.toString('base64')), replies, computed };
}

function pictureOf(seen: string): string[] {
  return decodeGif(Buffer.from(seen, 'base64')).frames.map(({ dots }) =>
    dots.map((dot) => dot.map((part) => (part > 80 ? 1 : 0)).join('')).join(' '),
  );
}

const drawn = (text: string): string =>
  Array.from({ length: width * height }, (_, at) => (draw(text)[at * 4] ? '111' : '000')).join(' ');
const flag = FLAG.map((dot) =>
  dot
    .slice(0, 3)
    .map((part) => (part ? 1 : 0))
    .join(''),
).join(' ');

test('everybody who looks sees every frame, under every placement', async (t) => {
  const names = Object.keys(PLACEMENTS);
  const [node, ...others] = await Promise.all(names.map((name) => inTurn(() => chat(t, name))));
  for (const [at, { seen, ...rest }] of others.entries()) {
    t.deepEqual(rest, { replies: node!.replies, computed: node!.computed }, names[at + 1]);
    t.true(
      seen.every((bytes, viewer) => bytes === node!.seen[viewer]),
      names[at + 1],
    );
  }
  for (const [at, seen] of node!.seen.entries()) {
    const frames = [drawn('Hello there'), flag, drawn('Is it gone?')];
    t.deepEqual(pictureOf(seen), at < 5 ? frames : frames.slice(1));
    t.true(decodeGif(Buffer.from(seen, 'base64')).isClosed);
  }
});
