/** `fluxion models`: each package that an app uses, how it is known, and what stays home where it is not. */
import test from 'ava';
import { runCli } from './support/run-cli.js';
import { type Tree, tempFolder } from './support/temp-folder.js';

const APP: Tree = {
  'package.json': '{}',
  'fluxion.config.js': `module.exports = { models: [
    { name: 'ours', module: { members: { add: { call: { returns: 'fresh' } } } } },
  ] };`,
  'node_modules/ours/index.js': 'exports.add = (a, b) => a + b;',
  'node_modules/small/package.json': '{"name":"small"}',
  'node_modules/small/index.js': "exports.twice = require('./lib').twice;",
  'node_modules/small/lib.js': 'exports.twice = (n) => n * 2;',
  'node_modules/evil/index.js': 'exports.run = (x) => eval(x);',
  'node_modules/colours/index.js': 'exports.red = 1;',
  'app.js': `const express = require('express');
const ours = require('ours');
const small = require('small');
const evil = require('evil');
const colours = require('colours');
const gone = require('gone');
const app = express();
const red = colours.red + 1;
app.get('/sum', (req, res) => { res.json(ours.add(1, 2)); });
app.get('/twice', (req, res) => { res.json(small.twice(2)); });
app.get('/run', (req, res) => { res.json(evil.run(req.query.x)); });
app.get('/gone', (req, res) => { res.json(gone.find()); });
app.listen(3000);
`,
};

test('fluxion models: by model, read, and unknown', async (t) => {
  const cwd = tempFolder(t, APP);
  const { stdout, stderr, code } = await runCli(['models', 'app.js', '--json'], { cwd });
  t.is(code, 0, stderr);
  const { packages } = JSON.parse(stdout);
  const expected = [
    { name: 'colours', by: null, kind: 'unknown', why: 'no handler depends on it', keepsHome: [] },
    { name: 'evil', by: null, kind: 'unknown', why: 'index.js has `eval` or `with` in it', keepsHome: ['get_run'] },
    { name: 'express', by: null, kind: 'model', file: null, keepsHome: [] },
    { name: 'gone', by: null, kind: 'unknown', why: 'it is not installed', keepsHome: ['get_gone'] },
    { name: 'ours', by: null, kind: 'model', file: 'fluxion.config.js', keepsHome: [] },
    { name: 'small', by: null, kind: 'read', modules: 2, characters: 68, keepsHome: [] },
  ];
  t.deepEqual(packages, expected);

  const text = (await runCli(['models', 'app.js'], { cwd })).stdout;
  t.regex(text, /^app\.js: 6 packages; 2 known by a model, 1 read, 3 unknown\n/);
  t.regex(text, /\nexpress {2}built in\n/);
  t.regex(text, /\nours {5}fluxion\.config\.js\n/);
  t.regex(text, /\nsmall {4}2 modules, 68 characters\n/);
  t.regex(text, /\nevil {5}index\.js has `eval` or `with` in it\n {9}keeps home: get_run \(app\.js:11\)\n/);
});

test('fluxion models: an app that uses none', async (t) => {
  const cwd = tempFolder(t, { 'app.js': "require('http').createServer((req, res) => res.end()).listen(3000);" });
  const { stdout, code } = await runCli(['models', 'app.js'], { cwd });
  t.is(stdout, 'app.js: 0 packages; 0 known by a model, 0 read, 0 unknown\n');
  t.is(code, 0);
});
