import http from 'node:http';
import test, { type ExecutionContext } from 'ava';
import {
  type Chance,
  generateRunningApp,
  makeChance,
  type Route,
  type RunningApp,
} from './support/generate-running-app.js';
import { inTurn } from './support/in-turn.js';
import { type Asked, judgeHistory } from './support/judge-history.js';
import { ServedApp } from './support/served-app.js';

/**
 * Random apps of which it is known what they do, on three threads that all take connections, asked over many connections at
 * once: every answer is one that a single loop could have given. GENERATED_SEED and GENERATED_RUNS look further.
 */
const first = Number(process.env.GENERATED_SEED ?? 1);
const runs = Number(process.env.GENERATED_RUNS ?? 2);
const FLAGS: readonly string[] = ['--placement', 'eager', '--accept', 'every', '--threads', '3'];
/** Whether other threads take connections, or why they do not. */
const DECIDED =
  /^fluxion (?:debug: replica-\d+ accepts|info: server0: the main thread accepts alone|info: server0: all )/m;
const clients = 6;
const rounds = 40;

for (let seed = first; seed < first + runs; seed++) {
  test(`a random app answers as one loop could (${seed})`, (t) => inTurn(() => check(t, seed)));
}

async function check(t: ExecutionContext, seed: number): Promise<void> {
  const chance = makeChance(seed);
  const app = generateRunningApp(chance);
  const served = await ServedApp.serve(t, app.files, { flags: FLAGS });
  await served.says(DECIDED);
  const asked: Asked[] = [];
  let ids = 0;
  let turn = 0;
  const ask = async (route: Route, agent: http.Agent): Promise<Asked> => {
    const id = ++ids;
    const began = ++turn;
    const body = route.method === 'POST' ? JSON.stringify({ id, text: 'x'.repeat(id % 90) }) : null;
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await served.request(
      `/${route.name}/${id}?on=1`,
      { method: route.method, headers, agent },
      body,
    );
    return { route, id, began, ended: ++turn, status, text };
  };
  const client = async (): Promise<void> => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < rounds; round++) asked.push(await ask(pick(app, chance), agent));
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, client));
  const final: (readonly number[])[] = [];
  const agent = new http.Agent();
  for (const route of app.routes.slice(-app.lists)) final.push(JSON.parse((await ask(route, agent)).text).seen);
  const problems = [...judgeHistory(asked, final)];
  t.deepEqual(problems.slice(0, 5), [], String(app.files['app.js']));
}

function pick({ routes }: RunningApp, chance: Chance): Route {
  return routes[chance(routes.length)] as Route;
}
