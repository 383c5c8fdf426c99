import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import firstWork from '../runtime/first-work.cjs';
import { cliPath } from './support/run-cli.js';
import { modulesFolder } from './support/served-app.js';
import { link, tempFolder } from './support/temp-folder.js';

// --- when, on a clock of the test's own ---------------------------------------------------------------------------------

class Loop {
  time = 0;
  busy = 0;
  begun: number | null = null;
  looks = 0;
  readonly #due: { readonly at: number; readonly look: () => void }[] = [];
  #heard: (() => void) | null = null;
  readonly noticed = firstWork.awaitWork(() => (this.begun = this.time), {
    busyMs: () => this.busy,
    later: (look, ms) => void this.#due.push({ at: this.time + ms, look }),
    hear: (heard) => {
      this.#heard = heard;
      return () => (this.#heard = null);
    },
  });

  request(ms: number): void {
    this.#heard?.();
    this.busy += ms;
    this.pass(ms);
  }

  pass(ms: number): void {
    const until = this.time + ms;
    for (;;) {
      const next = this.#due.findIndex(({ at }) => at <= until);
      const [due] = next === -1 ? [] : this.#due.splice(next, 1);
      if (due === undefined) break;
      this.time = due.at;
      this.looks++;
      due.look();
    }
    this.time = until;
  }

  get isAsleep(): boolean {
    return this.#due.length === 0;
  }
}

test('nobody looks before there is something to do', (t) => {
  const loop = new Loop();
  loop.busy += 5_000;
  loop.pass(60_000);
  t.is(loop.looks, 0);
  t.is(loop.begun, null);
});

test('a request now and then begins nothing, and nobody looks in between', (t) => {
  const loop = new Loop();
  for (let n = 0; n < 500; n++) {
    loop.request(5);
    loop.pass(995);
  }
  t.is(loop.begun, null);
  t.true(loop.isAsleep);
  t.true(loop.looks < 1_100, `${loop.looks} looks`);
});

test('a long run begins it at the next look', (t) => {
  const loop = new Loop();
  loop.request(120);
  loop.pass(100);
  t.not(loop.begun, null);
});

test('a crowd begins it within two looks', (t) => {
  const loop = new Loop();
  for (let n = 0; n < 250; n++) loop.request(1);
  t.true(loop.begun !== null && loop.begun <= 200, `after ${loop.begun} ms`);
});

test('a fifth of the time begins it within a second, a twentieth never does', (t) => {
  const often = new Loop();
  for (let n = 0; n < 100; n++) {
    often.request(2);
    often.pass(8);
  }
  t.not(often.begun, null);
  const seldom = new Loop();
  for (let n = 0; n < 10_000; n++) {
    seldom.request(2);
    seldom.pass(38);
  }
  t.is(seldom.begun, null);
});

test('work that comes by no request is noticed', (t) => {
  const loop = new Loop();
  loop.noticed();
  loop.busy += 150;
  loop.pass(200);
  t.not(loop.begun, null);
  loop.noticed();
  t.true(loop.isAsleep);
});

// --- a real app ---------------------------------------------------------------------------------------------------------

/** The engine listens to SIGTERM, unseen by who asks `process`; `/engine` changes state, so it stays at home. */
const APP = `
const express = require('express');
const { listenerCount } = require('events').prototype;
const app = express();
let asked = 0;
app.get('/engine', (req, res) => { asked += 1; res.json(listenerCount.call(process, 'SIGTERM')); });
app.get('/work', (req, res) => { let sum = 0; for (let at = 0; at < 3e7; at++) sum += at % 7; res.json(sum); });
const server = app.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
`;

test('an app that is asked at once, and has little to do, is as if node ran it; then it gets busy', async (t) => {
  const folder = tempFolder(t, { node_modules: link(modulesFolder), 'app.js': APP });
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, [cliPath, 'run', 'app.js'], {
    cwd: folder,
    env: { ...env, FLUXION_CACHE: `${folder}/cache` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  const origin = `http://127.0.0.1:${/port (\d+)/.exec(String(said))?.[1]}`;
  const ask = async (path: string): Promise<number> => Number(await (await fetch(`${origin}${path}`)).text());
  for (let n = 0; n < 5; n++) t.is(await ask('/engine'), 0);
  while ((await ask('/engine')) === 0) await ask('/work');
  t.is(await ask('/work'), await ask('/work'));
  child.kill('SIGTERM');
  t.deepEqual(await once(child, 'close'), [null, 'SIGTERM']);
});
