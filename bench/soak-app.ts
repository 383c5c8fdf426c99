/** The app that `soak.ts` runs, as files: everything that a request can be, in one small server. */
export const SOAK_APP: { readonly [path: string]: string } = {
  'package.json': '{ "name": "soak", "private": true }',
  // What it measures it measures in the loop that it is called in; nothing of it is state of the app's.
  'node_modules/soak-probe/package.json': '{ "name": "soak-probe", "main": "index.js" }',
  'node_modules/soak-probe/index.js': `
const LOOP = Symbol.for('soak.loop');
exports.measure = () => {
  globalThis[LOOP] ??= Math.random();
  if (typeof gc === 'function') { gc(); gc(); }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { loop: globalThis[LOOP], heapUsed, external, rss };
};`,
  'fluxion.config.js': `
module.exports = { models: [{ name: 'soak-probe', module: { members: { measure: { call: { returns: 'fresh' } } } } }] };`,
  'views/page.ejs': '<h1><%= title %></h1><% for (const item of items) { %><li><%= item %></li><% } %>',
  'big.txt': 'The quick brown fox jumps over the lazy dog.\n'.repeat(3000),
  'app.js': `
const fs = require('node:fs');
const path = require('node:path');
const { Readable } = require('node:stream');
const express = require('express');
const session = require('express-session');
const { measure } = require('soak-probe');

const app = express();
app.set('view engine', 'ejs');
app.set('views', path.join(__dirname, 'views'));

let count = 0;
const listeners = new Set();

app.get('/probe', (req, res) => { res.json(measure()); });
app.get('/probe-home', (req, res) => { count += 0; res.json(measure()); });

app.get('/plain/:id', (req, res) => { res.json({ id: req.params.id, query: req.query }); });
app.get('/heavy/:rounds', (req, res) => {
  let sum = 0;
  for (let round = 0; round < Number(req.params.rounds); round++) sum = (sum * 31 + round) % 1000003;
  res.send(String(sum));
});
app.post('/echo', (req, res) => { req.pipe(res); });
app.post('/json', express.json(), (req, res) => { res.status(201).json({ got: Object.keys(req.body), size: JSON.stringify(req.body).length }); });
app.get('/page', (req, res) => { res.render('page', { title: 'Soak', items: [1, 2, 3] }); });
app.get('/file', (req, res, next) => { res.sendFile(path.join(__dirname, 'big.txt'), (err) => { if (err && !res.headersSent) next(err); }); });
app.get('/stream', (req, res) => { Readable.from(Array.from({ length: 20 }, (_, n) => 'line ' + n + '\\n')).pipe(res); });
app.get('/read', (req, res, next) => {
  fs.readFile(path.join(__dirname, 'package.json'), 'utf8', (err, text) => { if (err) return next(err); res.send(text); });
});
app.get('/later', async (req, res) => { await new Promise((resolve) => setTimeout(resolve, 2)); res.send('later'); });
// Half free, half of the counter's owner.
app.get('/cut/:n', (req, res) => {
  let sum = 0;
  for (let round = 0; round < 2000; round++) sum += round % Number(req.params.n);
  fs.readFile(path.join(__dirname, 'package.json'), 'utf8', (err, text) => { count += 1; res.json({ count: count > 0, sum, size: text.length }); });
});
app.post('/count', (req, res) => { count += 1; res.json({ count: count > 0 }); });
app.get('/listen', (req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.write(': hello\\n\\n');
  listeners.add(res);
  req.on('close', () => listeners.delete(res));
});
app.get('/throws', () => { throw Object.assign(new Error('as asked'), { status: 418 }); });
app.get('/rejects', async () => { await null; throw new TypeError('as asked'); });
app.get('/chain', (req, res, next) => { req.first = { at: 1 }; res.locals.second = 2; next(); }, (req, res) => { res.json([req.first, res.locals.second]); });
app.use('/session', session({ secret: 's', resave: false, saveUninitialized: false, store: new session.MemoryStore() }));
app.get('/session', (req, res) => { res.json({ name: req.session.name || null }); });
app.use((err, req, res, next) => { res.status(err.status || 500).json({ error: err.message }); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`,
};
