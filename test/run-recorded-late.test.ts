import { readdirSync } from 'node:fs';
import test from 'ava';
import { runsAway, ServedApp } from './support/served-app.js';

// What start-up does by `fs/promises` is done once, at home, and what it reads from `performance` is the same on all loops, by whichever
// way the program comes by them. Node need not have loaded them when Fluxion begins to record.

const SERVE = `.then((folder) => {
  const app = express();
  app.get('/name', function name(req, res) { res.json(path.basename(folder)); });
  app.get('/size', function size(req, res) { fs.stat(__filename, function found(error, { size }) { res.json(size); }); });
  const server = app.listen(0, () => console.log('port ' + server.address().port));
});
`;
const CORE = `const fs = require('fs'), path = require('path'), express = require('express');\n`;
const WAYS: { readonly [way: string]: string } = {
  'a property of fs': 'fs.promises.mkdtemp(path.join(__dirname, "made-"))',
  'its name': 'require("fs/promises").mkdtemp(path.join(__dirname, "made-"))',
  'its whole name': 'require("node:fs/promises").mkdtemp(path.join(__dirname, "made-"))',
  'an import': 'import("fs/promises").then(({ mkdtemp }) => mkdtemp(path.join(__dirname, "made-")))',
  'an import of fs': 'import("node:fs").then(({ promises }) => promises.mkdtemp(path.join(__dirname, "made-")))',
  'what Node hands out': 'process.getBuiltinModule("fs/promises").mkdtemp(path.join(__dirname, "made-"))',
  'a copy of fs': '({ ...fs }).promises.mkdtemp(path.join(__dirname, "made-"))',
};

/** Of these the compiler does not know what is called, so nothing leaves; a thread evaluates start-up nevertheless. */
const UNKNOWN: readonly string[] = ['what Node hands out', 'a copy of fs'];

for (const [way, call] of Object.entries(WAYS)) {
  test.serial(`files that start-up makes are made once: ${way}`, async (t) => {
    const flags = ['--placement', 'eager', '--threads', '1'];
    const app = await ServedApp.serve(t, { 'app.js': `${CORE}${call}${SERVE}` }, { flags, replicas: 1 });
    const { text } = await app.get('/name');
    await app.get('/size');
    const report = await app.report();
    const made = readdirSync(app.folder).filter((name) => name.startsWith('made-'));
    t.is(made.length, 1);
    t.is(text, JSON.stringify(made[0]));
    t.is(runsAway(report, 'name'), UNKNOWN.includes(way) ? 0 : 1);
  });
}

const CLOCKS: { readonly [way: string]: string } = {
  'the global': 'performance.now()',
  'a property of the global': 'globalThis.performance.now()',
  'its name': 'require("perf_hooks").performance.now()',
  'its whole name': 'require("node:perf_hooks").performance.now()',
  'a copy': 'require("perf_hooks").performance.now.call(performance)',
};

for (const [way, call] of Object.entries(CLOCKS)) {
  test.serial(`what start-up reads from the clock is the same on all loops: ${way}`, async (t) => {
    const text = `${CORE}const begun = ${call};
const app = express();
app.get('/begun', function asked(req, res) { res.json(begun); });
app.get('/size', function size(req, res) { fs.stat(__filename, function found(error, { size }) { res.json(size); }); });
const server = app.listen(0, () => console.log('begun ' + begun + '\\nport ' + server.address().port));
`;
    const app = await ServedApp.serve(
      t,
      { 'app.js': text },
      { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 },
    );
    const { text: answer } = await app.get('/begun');
    t.is(answer, String(/begun (\S+)/.exec(app.stdout)?.[1]));
    await app.get('/size');
    t.is(runsAway(await app.report(), 'asked'), 1);
  });
}
