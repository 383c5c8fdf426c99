import https from 'node:https';
import tls from 'node:tls';
import test from 'ava';
import { first, second } from './support/certificates.js';
import { ServedApp } from './support/served-app.js';

// Replicas that take connections of HTTPS servers.

const FLAGS = ['--accept', 'every', '--threads', '2'];

const APP = `
  const fs = require('node:fs');
  const https = require('node:https');
  const tls = require('node:tls');
  const express = require('express');
  const app = express();
  app.use(express.json());
  const kept = new Map();
  const pair = (name) => ({ key: fs.readFileSync(name + '.key'), cert: fs.readFileSync(name + '.crt') });
  app.get('/free/:n', (req, res) => { res.json([req.params.n, req.protocol, req.secure, req.socket.encrypted, req.socket.authorized]); });
  app.get('/kept/:key', (req, res) => {
    const count = (kept.get(req.params.key) ?? 0) + 1;
    kept.set(req.params.key, count);
    res.json([count, req.protocol, req.secure, req.socket.encrypted, req.socket.authorized]);
  });
  app.put('/kept/:key', async (req, res) => { let n = 0; for await (const part of req) n += part.length; kept.set(req.params.key, n); res.send('kept ' + n); });
  app.get('/kept/:key/large', (req, res) => { res.send('y'.repeat(3_000_000) + kept.size * 0); });
  app.get('/renew', (req, res) => { server.setSecureContext(pair('b')); res.send('renewed ' + kept.size); });
  app.get('/several', (req, res) => { server.addContext('b.example', pair('b')); res.send('added ' + kept.size); });
  const server = https.createServer(pair('a'), app);
  server.on('upgrade', (req, socket, head) => {
    const facts = JSON.stringify([socket instanceof tls.TLSSocket, socket.encrypted, socket.getProtocol(), socket.getPeerCertificate(), kept.size > -1]);
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n' + facts + '\\n');
    socket.write(head);
    socket.pipe(socket);
  });
  server.listen(0, () => console.log('port ' + server.address().port));
  process.on('SIGUSR1', () => {
    server.getConnections((error, count) => console.log('connections ' + count));
    server.close(() => { console.log('closed'); });
  });`;

const tree = {
  'app.js': APP,
  ...{ 'a.key': first.key, 'a.crt': first.cert, 'b.key': second.key, 'b.crt': second.cert },
};

function ask(
  { port }: ServedApp,
  path: string,
  options: https.RequestOptions = {},
  body: string | null = null,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const req = https.request({ port, path, rejectUnauthorized: false, agent: false, ...options }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve(text)).on('error', reject);
    });
    req.on('error', reject).end(body ?? undefined);
  });
}

/** What one connection shows: who answers it, and whether it goes on with a session of another one. */
function shake(
  { port }: ServedApp,
  options: tls.ConnectionOptions = {},
): Promise<{ name: string; isReused: boolean; session: Buffer | null }> {
  return new Promise((resolve, reject) => {
    let session: Buffer | null = null;
    const socket = tls.connect({ port, rejectUnauthorized: false, ...options }, () => {
      const found = { name: String(socket.getPeerCertificate().subject?.CN), isReused: socket.isSessionReused() };
      socket.write('GET /free/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      socket.on('close', () => resolve({ ...found, session }));
    });
    socket.on('session', (given: Buffer) => (session = given));
    socket.on('error', reject).resume();
  });
}

/** What comes back of what is sent once the protocol has changed. */
function upgrade({ port }: ServedApp, sends: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const head = 'GET /up HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
    const socket = tls.connect({ port, rejectUnauthorized: false }, () => socket.write(`${head}head`));
    let text = '';
    let hasSent = false;
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (!hasSent && text.endsWith('head')) {
        hasSent = true;
        socket.write(sends);
      } else if (text.endsWith(sends)) socket.end();
    });
    socket.on('close', () => resolve(text)).on('error', reject);
  });
}

const many = <T>(count: number, act: (index: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

test('connections of HTTPS are served by all loops, whatever comes on them', async (t) => {
  const app = await ServedApp.serve(t, tree, { flags: FLAGS, replicas: 2 });
  await app.until(() => [...app.stderr.matchAll(/replica-\d+ accepts connections/g)].length >= 2);
  const frees = await many(30, (n) => ask(app, `/free/${n}`));
  t.deepEqual(
    frees,
    frees.map((_, n) => `["${n}","https",true,true,false]`),
  );
  const counts = (await many(30, () => ask(app, '/kept/count'))).map((text) => JSON.parse(text));
  t.deepEqual(
    counts.map(([count]) => count).sort((a, b) => a - b),
    counts.map((_, n) => n + 1),
  );
  t.deepEqual([...new Set(counts.map((count) => JSON.stringify(count.slice(1))))], ['["https",true,true,false]']);

  // One connection: what is home's, what is not, and what is too much to be sent there at once.
  await many(4, async (n) => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const [free, kept, large] = [`/free/${n}`, `/kept/${n}`, 'z'.repeat(1_500_000)];
    t.is(await ask(app, kept, { agent }), '[1,"https",true,true,false]');
    t.is(await ask(app, free, { agent }), `["${n}","https",true,true,false]`);
    const chunked = n % 2 === 0 ? {} : { headers: { 'Transfer-Encoding': 'chunked' } };
    for (const round of [1, 2]) {
      t.is(await ask(app, kept, { agent, method: 'PUT', ...chunked }, large), `kept ${large.length}`);
      t.is(await ask(app, free, { agent }), `["${n}","https",true,true,false]`);
      t.is((await ask(app, `${kept}/large`, { agent })).length, 3_000_001, String(round));
    }
    agent.destroy();
  });

  const sent = 'w'.repeat(300_000);
  for (const text of await many(4, () => upgrade(app, sent))) {
    t.regex(text, /^HTTP\/1.1 101 [\s\S]*\r\n\r\n\[true,true,"TLSv1\.3",\{\},true\]\nheadw+$/);
    t.is(text.length - text.indexOf('headw') - 4, sent.length);
  }

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    let { session } = await shake(app, { maxVersion });
    for (let round = 0; round < 6; round++) {
      const again = await shake(app, { maxVersion, ...(session === null ? {} : { session }) });
      t.true(again.isReused, maxVersion);
      session = again.session ?? session;
    }
  }

  t.deepEqual([...new Set((await many(6, () => shake(app))).map(({ name }) => name))], [first.name]);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.is(await ask(app, '/free/0', { agent }), '["0","https",true,true,false]');
  t.regex(await ask(app, '/renew'), /^renewed/);
  t.deepEqual([...new Set((await many(6, () => shake(app))).map(({ name }) => name))], [second.name]);
  // From now on that is for the main thread alone; what is under way elsewhere asks it.
  t.regex(await ask(app, '/several'), /^added/);
  await app.says(/takes new connections alone, as it has certificates for several names/);
  t.is(await ask(app, '/free/1', { agent }), '["1","https",true,true,false]');
  t.is(await ask(app, '/kept/count', { agent }), '[31,"https",true,true,false]');
  app.child.kill('SIGUSR1');
  t.is((await app.says(/^connections (\d+)$/m))[1], '1');
  agent.destroy();
  await app.says(/^closed$/m);
  t.is((await app.ended).code, 0);
  const { loops } = app.readReport();
  t.true(loops.every(({ requests }) => requests > 0) && loops.length === 3, JSON.stringify(loops));
});

test('what only the main thread can decide of a handshake keeps all connections there', async (t) => {
  const text = `
    const fs = require('node:fs');
    const https = require('node:https');
    const tls = require('node:tls');
    const app = require('express')();
    const own = { key: fs.readFileSync('a.key'), cert: fs.readFileSync('a.crt') };
    app.get('/', (req, res) => { res.json([req.secure, req.socket.authorized]); });
    const servers = [
      https.createServer({ ...own, SNICallback: (name, done) => done(null, tls.createSecureContext(own)) }, app),
      https.createServer({ ...own, requestCert: true, rejectUnauthorized: false }, app),
      https.createServer({ ...own, ALPNCallback: () => 'http/1.1', ALPNProtocols: undefined }, app),
      https.createServer(own, app).on('secureConnection', () => {}),
      https.createServer(own, app).on('newSession', (id, session, done) => done()),
      https.createServer(own, app),
    ];
    servers[5].addContext('b.example', own);
    let left = servers.length;
    for (const server of servers) server.listen(0, () => {
      console.log('listens ' + servers.indexOf(server) + ' ' + server.address().port);
      if (--left === 0) console.log('port ' + servers[0].address().port);
    });`;
  const app = await ServedApp.serve(t, { ...tree, 'app.js': text }, { flags: FLAGS });
  const whys = () => [...app.stderr.matchAll(/the main thread accepts alone, as (.*)/g)].map(([, why]) => why);
  await app.until(() => whys().length >= 6);
  t.deepEqual(whys().sort(), [
    'a function of the app chooses certificates',
    'a function of the app chooses protocols',
    'it asks clients for certificates',
    'it has certificates for several names',
    'it listens to "newSession"',
    'it listens to "secureConnection"',
  ]);
  for (const [, port] of app.stdout.matchAll(/^listens \d (\d+)$/gm)) {
    t.is(await ask(app, '/', { port: Number(port) }), '[true,false]');
  }
});
