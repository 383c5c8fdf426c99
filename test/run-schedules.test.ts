import test from 'ava';
import { type Reply, ServedApp } from './support/served-app.js';

/**
 * No schedule changes an answer. What the scheduler decides from is the clock and what the processor did; here both make leaps,
 * so handlers leave and come back, are tried and left alone, and replicas come and go for no reason. The same
 * requests go to the same app under node.
 */
const app = (seed: number): string => `
// Nothing is kept for that: a program that keeps its clock itself stays on the loop that has it.
const { now } = performance;
const begin = ${seed} / 7919;
const leaps = (ms, every) => ms * Math.floor(now.call(performance) / every + begin);
performance.now = () => now.call(performance) + leaps(7, 0.11) + leaps(60, 1.3) + leaps(400, 37);
const usage = () => ({ user: Math.floor(leaps(900, 0.13) + leaps(7000, 1.7)), system: 0 });
process.cpuUsage = usage;
process.threadCpuUsage = usage;

const express = require('express');
const session = require('express-session');
const fs = require('fs/promises');
const app = express();
app.use(express.json());
app.use('/my', session({ secret: 'known', resave: false, saveUninitialized: true }));
let count = 0;
const notes = new Map();
const work = (rounds) => { let sum = 0; for (let at = 0; at < rounds; at++) sum = (sum + at * at) % 1000003; return sum; };
app.get('/work/:rounds', (req, res) => { res.set('X-Rounds', req.params.rounds).json({ sum: work(Number(req.params.rounds)) }); });
app.get('/file', async (req, res) => { const text = await fs.readFile(__filename, 'utf8'); res.json([text.length, work(text.length)]); });
app.get('/stream/:parts', (req, res) => {
  let left = Number(req.params.parts);
  const go = () => { if (left-- > 0) { res.write('part ' + work(left * 100) + '\\n'); setImmediate(go); } else res.end('over'); };
  go();
});
app.post('/echo', (req, res) => { res.status(201).json({ got: req.body, sum: work(JSON.stringify(req.body).length) }); });
app.get('/broken/:rounds', (req, res) => { if (work(Number(req.params.rounds)) % 2 === 0) throw new Error('even'); res.send('odd'); });
app.post('/count', (req, res) => { count += 1; res.json(count); });
app.get('/chain', (req, res, next) => { req.sum = work(500); next(); }, (req, res) => { count += 1; res.json([req.sum, count]); });
app.get('/behind', async (req, res) => { const { size } = await fs.stat(__filename); count += 1; res.json([size, count]); });
app.put('/notes/:key', (req, res) => { notes.set(req.params.key, req.body); res.sendStatus(204); });
app.get('/notes/:key', (req, res) => { res.json(notes.get(req.params.key) ?? null); });
app.get('/my/visits', (req, res) => { req.session.visits = (req.session.visits ?? 0) + 1; res.json(req.session.visits); });
app.use((error, req, res, next) => { res.status(500).send('failed: ' + error.message); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

type Ask = (to: ServedApp, cookies: Map<ServedApp, string>) => Promise<Reply>;

const get =
  (path: string): Ask =>
  (to) =>
    to.get(path);

function send(method: string, path: string, body: unknown): Ask {
  const headers = { 'content-type': 'application/json' };
  return (to) => to.request(path, { method, headers }, JSON.stringify(body));
}

/** Each side has a session of its own. */
const visit: Ask = async (to, cookies) => {
  const cookie = cookies.get(to);
  const reply = await to.get('/my/visits', cookie === undefined ? {} : { headers: { cookie } });
  const [given] = reply.headers['set-cookie'] ?? [];
  if (given !== undefined) cookies.set(to, given.split(';')[0] ?? '');
  return reply;
};

function makeChance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** One request, or some at once that do not depend on each other. */
function someRequests(chance: (below: number) => number): readonly Ask[] {
  const free: readonly (() => Ask)[] = [
    () => get(`/work/${chance(40_000)}`),
    () => get('/file'),
    () => get(`/stream/${chance(6)}`),
    () => get(`/broken/${chance(2_000)}`),
    () => send('POST', '/echo', { text: 'x'.repeat(chance(3_000)) }),
  ];
  const state: readonly (() => Ask)[] = [
    () => send('POST', '/count', {}),
    () => get('/chain'),
    () => get('/behind'),
    () => send('PUT', `/notes/${chance(3)}`, { at: chance(1_000) }),
    () => get(`/notes/${chance(3)}`),
    () => visit,
  ];
  const pick = (from: readonly (() => Ask)[]): Ask => (from[chance(from.length)] ?? (() => visit))();
  const together = Array.from({ length: chance(6) }, () => pick(free));
  return chance(2) === 0 ? [...together, pick(state)] : [...together, pick(free)];
}

function shown({ status, headers, text }: Reply): string {
  const { 'x-rounds': rounds, 'content-type': type, 'content-length': length } = headers;
  return [status, rounds, type, length, text].join(' | ');
}

for (const seed of [11, 4_711, 90_210]) {
  test.serial(`leaps of the clock change no answer (${seed})`, async (t) => {
    const tree = { 'app.js': app(seed) };
    const flags = ['--threads', '2', '--max-block-ms', '0', '--accept', 'home'];
    const [node, fluxion] = await Promise.all([
      ServedApp.serve(t, tree, { flags: null }),
      ServedApp.serve(t, tree, { flags }),
    ]);
    const cookies = new Map<ServedApp, string>();
    const chance = makeChance(seed);
    let rounds = 0;
    const round = async (): Promise<void> => {
      rounds++;
      const asks = someRequests(chance);
      const all = (to: ServedApp): Promise<readonly Reply[]> => Promise.all(asks.map((ask) => ask(to, cookies)));
      const [there, here] = await Promise.all([all(node), all(fluxion)]);
      t.deepEqual(here.map(shown), there.map(shown), `round ${rounds}`);
    };
    // Chance has something to choose from only once there is somewhere to go.
    await fluxion.askUntil(fluxion.hasReplicas(1), round);
    for (let more = 0; more < 150; more++) await round();
    const { fluxions } = await fluxion.report();
    const ran = fluxions.filter(({ runs }) => Object.keys(runs).length > 1);
    t.true(ran.length >= 4, `on several loops: ${ran.map(({ id }) => id).join(', ')}`);
  });
}
