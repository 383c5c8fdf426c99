import test, { type ExecutionContext } from 'ava';
import { ServedApp } from './support/served-app.js';

// Errors that nobody catches, of handlers that run on other threads: what the app and its clients see of them, and what the process
// prints and ends with, is what it is with `node`.

const WAYS = {
  node: null,
  eager: ['--placement', 'eager', '--threads', '2', '--accept', 'home'],
  every: ['--placement', 'eager', '--threads', '2', '--accept', 'every'],
} as const;
const LISTEN = "\nconst server = app.listen(0, () => console.log('port ' + server.address().port));\n";
const OK =
  "app.get('/ok', (req, res) => { let n = 0; for (let i = 0; i < 1000; i++) n += i; res.send('ok ' + n); });\n";

interface Case {
  readonly code: string;
  /** Each is answered before anything is thrown. */
  readonly ask: readonly string[];
  /** What the app says behind each, and goes on; null where it ends. */
  readonly says: RegExp | null;
  readonly express?: string;
  readonly nodeOptions?: string;
}

const masked = (text: string, { folder }: ServedApp): string =>
  text
    .replaceAll(folder, '')
    // There are more of them where several timers are due at once.
    .replace(/^ +at .*\(node:internal\/(timers|process\/task_queues).*\n/gm, '')
    // A report has a listener of its own.
    .replace(/node:events:\d+:\d+/g, 'node:events')
    .replace(/port \d+/g, 'port')
    .replace(/\(node:\d+\)/g, '(node)')
    .replace(/^fluxion (debug|info): .*\n/gm, '');

const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

/** Answers, output and end. */
async function seen(
  t: ExecutionContext,
  flags: readonly string[] | null,
  { code, ask, says, express, nodeOptions }: Case,
) {
  const app = await ServedApp.serve(
    t,
    {
      'app.js': `const express = require('${express ?? 'express'}'), fs = require('fs'), app = express();\n${OK}${code}${LISTEN}`,
    },
    {
      flags,
      replicas: flags === null ? 0 : 2,
      ...(nodeOptions === undefined ? {} : { env: { NODE_OPTIONS: nodeOptions } }),
    },
  );
  const answers: string[] = [];
  for (const [index, path] of ask.entries()) {
    const { status, text } = await app.get(path, { agent: false });
    answers.push(`${status} ${text}`);
    if (says !== null) await app.until(() => count(app.stdout + app.stderr, says) > index);
  }
  if (says !== null) {
    answers.push((await app.get('/ok', { agent: false })).text);
    app.child.kill('SIGKILL');
  }
  const end = await app.ended;
  return { answers, end, stdout: masked(app.stdout, app), stderr: masked(app.stderr, app) };
}

function same(title: string, given: Case, code?: number): void {
  test(title, async (t) => {
    const expected = await seen(t, WAYS.node, given);
    if (code !== undefined) t.is(expected.end.code, code);
    for (const way of ['eager', 'every'] as const) t.deepEqual(await seen(t, WAYS[way], given), expected, way);
  });
}

const LISTENERS = `
process.on('uncaughtExceptionMonitor', (error, origin) => { console.log('monitor', origin, String(error)); });
process.on('uncaughtException', (error, origin) => { console.log('heard', origin, error?.constructor?.name, error?.code, error?.stack ?? error); });
`;
const THROWERS = `
class AppError extends Error { constructor(message) { super(message); this.status = 418; } }
app.get('/timer', (req, res) => { res.send('ok'); setTimeout(function later() { throw new AppError('of a class'); }, 2); });
app.get('/turn', (req, res) => { res.send('ok'); setImmediate(() => { throw new TypeError('in the next turn'); }); });
app.get('/file', (req, res) => { res.send('ok'); fs.readFile('/nowhere', (error) => { if (error) throw error; }); });
app.get('/text', (req, res) => { res.send('ok'); setTimeout(() => { throw 'a text'; }, 2); });
app.get('/nothing', (req, res) => { res.send('ok'); setTimeout(() => { throw undefined; }, 2); });
app.get('/function', (req, res) => { res.send('ok'); setTimeout(() => { throw Object.assign(new RangeError('has a function'), { code: 'E_FN', retry: () => 1 }); }, 2); });
app.get('/stream', (req, res) => { res.send('ok'); fs.createReadStream('/nowhere').resume(); });
app.get('/rejects', (req, res) => { res.send('ok'); setTimeout(async () => { await null; JSON.parse('{'); }, 2); });
app.get('/refused', (req, res) => { res.send('ok'); setTimeout(() => { Promise.reject('a reason'); }, 2); });
`;
const ALL = ['timer', 'turn', 'file', 'text', 'nothing', 'function', 'stream', 'rejects', 'refused'].map(
  (name) => `/${name}`,
);

same('the app hears of them at home, once, and goes on', { code: LISTENERS + THROWERS, ask: ALL, says: /^heard/gm });
same('listeners for rejections', {
  code: `${LISTENERS}process.on('unhandledRejection', (reason, promise) => { console.log('rejected', reason?.message ?? reason, promise instanceof Promise); });
process.on('rejectionHandled', (promise) => { console.log('handled', promise instanceof Promise); });
app.get('/late', (req, res) => { res.send('ok'); const late = Promise.reject(new Error('caught late')); setTimeout(() => late.catch(() => {}), 10); });
${THROWERS}`,
  ask: ['/late', '/rejects', '/refused'],
  says: /^(handled|rejected (?!caught))/gm,
});
same('a capture callback', {
  code: `process.setUncaughtExceptionCaptureCallback((error) => { console.log('captured', error?.stack ?? error); });\n${THROWERS}`,
  ask: ['/timer', '/text', '/rejects'],
  says: /^captured/gm,
});
same(
  'a listener that closes the server and ends the process',
  {
    code: `process.on('uncaughtException', (error) => { console.error('closing:', error.message); server.close(() => { console.log('closed'); process.exit(3); }); server.closeIdleConnections(); });\n${THROWERS}`,
    ask: ['/ok', '/turn'],
    says: null,
  },
  3,
);
for (const path of ALL) {
  const code = `process.on('exit', (code) => console.log('exit', code, process.exitCode));${THROWERS}`;
  same(`nobody hears of ${path}`, { code, ask: ['/ok', path], says: null }, 1);
}
const ASYNC = `app.get('/async', async (req, res) => { res.send('ok'); await null; throw Object.assign(new Error('nobody asks'), { status: 400 }); });`;
same('an async handler of Express 4', { code: ASYNC, ask: ['/async'], says: null, express: 'express4' }, 1);
same(
  "an exit code of the app's own",
  { code: `process.on('exit', () => { process.exitCode = 77; });${THROWERS}`, ask: ['/timer'], says: null },
  77,
);
same(
  'a listener that throws',
  {
    code: `process.on('uncaughtException', (error) => { throw new Error('again: ' + error.message); });${THROWERS}`,
    ask: ['/timer'],
    says: null,
  },
  7,
);
for (const [mode, says] of [
  ['strict', null],
  ['warn', /UnhandledPromiseRejectionWarning: Unhandled promise rejection/g],
  ['warn-with-error-code', /UnhandledPromiseRejectionWarning: Unhandled promise rejection/g],
] as const)
  same(`--unhandled-rejections=${mode}`, {
    code: THROWERS,
    ask: ['/rejects'],
    says,
    nodeOptions: `--unhandled-rejections=${mode}`,
  });
same('--trace-uncaught', { code: THROWERS, ask: ['/timer'], says: null, nodeOptions: '--trace-uncaught' }, 1);

test('a listener of a plain server', async (t) => {
  const files = {
    'app.js': `const http = require('http');\nconst server = http.createServer((req, res) => {\n  let n = 0; for (let i = 0; i < 1000; i++) n += i;\n  if (req.url === '/throw') throw new Error('of a listener');\n  res.end('ok ' + n);\n}).listen(0, () => console.log('port ' + server.address().port));\n`,
  };
  const runs = [];
  for (const flags of [WAYS.node, WAYS.eager]) {
    const app = await ServedApp.serve(t, files, { flags, replicas: flags === null ? 0 : 2 });
    t.is((await app.get('/ok')).text, 'ok 499500');
    await t.throwsAsync(app.get('/throw', { agent: false }));
    runs.push({ end: await app.ended, stderr: masked(app.stderr, app) });
  }
  t.deepEqual(runs[1], runs[0]);
});
