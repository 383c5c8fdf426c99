import { connect } from 'node:net';
import test from 'ava';
import { ServedApp } from './support/served-app.js';

// What lies around requests and responses: trailers, interim answers, pipelines, timeouts, the connection itself. By node, across
// the bridge on one loop, and on a replica, byte for byte.

const APP = `
const http = require('node:http');
const express = require('express');
const app = express();
app.post('/trailers', (req, res) => {
  let bytes = 0;
  req.on('data', (data) => { bytes += data.length; });
  req.on('end', () => res.json([bytes, req.trailers, req.rawTrailers, req.trailersDistinct, req.complete]));
});
app.post('/echo', (req, res) => { req.pipe(res); });
app.post('/refuse', (req, res) => { res.status(413).set('Connection', 'close').end('too large'); });
app.post('/continue', (req, res) => {
  res.writeContinue();
  let text = '';
  req.setEncoding('utf8').on('data', (data) => { text += data; }).on('end', () => res.end('got ' + text));
});
app.get('/hints', (req, res) => {
  res.writeProcessing();
  res.writeEarlyHints({ link: ['</a.css>; rel=preload', '</b.js>; rel=preload'], 'x-trace': '1' }, () => {
    res.writeProcessing();
    setTimeout(() => res.end('hinted'), 5);
  });
});
app.get('/slow/:n', (req, res) => { setTimeout(() => res.send('slow' + req.params.n), 40 - 10 * Number(req.params.n)); });
app.get('/fast', (req, res) => { res.send('fast'); });
app.get('/stream/:n', (req, res) => {
  let parts = 0;
  const go = () => { if (parts++ < 3) { res.write(req.params.n + parts); setTimeout(go, 3); } else res.end(); };
  go();
});
app.get('/timeout/response', (req, res) => { res.setTimeout(30, () => { console.log('timed out'); res.status(503).send('timed out'); }); });
app.get('/timeout/request', (req, res) => { req.setTimeout(30, () => console.log('not of a request that is complete')); });
app.get('/timeout/nobody', (req, res) => { res.on('close', () => console.log('closed')); req.setTimeout(30); });
app.get('/timeout/later', (req, res) => { req.socket.setTimeout(30); res.on('timeout', () => { console.log('heard'); res.end('heard'); }); });
app.get('/socket', (req, res) => {
  req.socket.setNoDelay(true).setKeepAlive(true, 1000).setTimeout(0);
  res.json([req.socket.remoteAddress, req.ip, req.secure, req.protocol, req.socket.encrypted, req.socket.destroyed]);
});
app.get('/headers', (req, res) => { res.set('X-Latin', 'h\\u00e9'); res.json([req.headers, req.rawHeaders.length]); });
app.get('/end-socket', (req, res) => { res.write('partial'); setTimeout(() => req.socket.end(), 5); });
app.get('/raw', (req, res) => { res.socket.write('HTTP/1.1 200 RAW\\r\\nContent-Length: 3\\r\\n\\r\\nraw'); res.socket.end(); });
app.get('/assign', (req, res) => { const { socket } = res; res.detachSocket(socket); console.log(res.socket); res.assignSocket(socket); res.end('again'); });
app.get('/cork', (req, res) => { res.socket.cork(); res.write('1'); res.write('2'); process.nextTick(() => { res.socket.uncork(); res.end('3'); }); });
app.get('/ticks', async (req, res) => {
  res.write('a'); res.write('b'); await null; res.write('c'); process.nextTick(() => { res.write('d'); res.write('e'); });
  await new Promise(setImmediate); res.write('f'); await null; await null; res.write('g'); res.end('h');
});
app.get('/turns', (req, res) => { res.write('a'); setImmediate(() => { res.write('b'); setImmediate(() => { res.write('c'); setImmediate(() => res.end('d')); }); }); });
app.get('/corked', (req, res) => { res.write('0'); res.cork(); res.write('1'); res.write('2'); process.nextTick(() => { res.uncork(); res.write('3'); res.end('4'); }); });
app.get('/corked-turns', (req, res) => {
  res.cork(); res.write('1'); res.cork(); res.write('2'); res.uncork();
  setImmediate(() => { res.write('3'); setImmediate(() => { res.write('4'); res.uncork(); setImmediate(() => {
    res.write('5'); res.cork(); res.write('6'); setImmediate(() => { res.uncork(); setImmediate(() => { res.cork(); res.write('7'); setImmediate(() => res.end('8')); }); });
  }); }); });
});
app.get('/corked-on', async (req, res, next) => { res.cork(); res.write('1'); await new Promise(setImmediate); next(); }, (req, res) => {
  res.write('2'); setImmediate(() => { res.write('3'); res.uncork(); setImmediate(() => res.end('4')); });
});
let resumed = 0;
app.get('/resumed', (req, res) => {
  req.pause(); let bytes = 0; req.on('data', (chunk) => bytes += chunk.length); setTimeout(() => { req.resume(); }, 2);
  req.on('end', () => res.send(bytes + ' ' + resumed++));
});
app.get('/buffers', (req, res) => {
  res.write('x'.repeat(1000));
  res.end(JSON.stringify([res.writableLength >= 0, res.writableHighWaterMark, res.writableNeedDrain, res.writableCorked]));
});
app.get('/until-close', (req, res) => {
  for (const name of ['date', 'connection', 'transfer-encoding']) res.removeHeader(name);
  res.end('no length');
});
const server = http.createServer(app);
server.maxRequestsPerSocket = 4;
server.on('checkExpectation', (req, res) => { res.writeHead(417, { 'x-expected': req.headers.expect }); res.end(); });
server.on('checkContinue', (req, res) => {
  if (req.url !== '/echo') return server.emit('request', req, res);
  res.writeContinue();
  server.emit('request', req, res);
});
server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
`;

interface Turn {
  readonly sends: string;
  /** Of what was answered so far, before the next turn. */
  readonly until?: RegExp;
}

function ask(path: string, headers: readonly string[] = [], method = 'GET'): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
}

const CLOSE = ['Connection: close'];
const EXPECTS = ['Expect: 100-continue', 'Content-Length: 5', ...CLOSE];

const TALKS: { readonly [name: string]: readonly Turn[] } = {
  trailers: [
    { sends: `${ask('/trailers', ['Transfer-Encoding: chunked', 'Trailer: X-A', ...CLOSE], 'POST')}3\r\nabc\r\n` },
    { sends: '2\r\nde\r\n0\r\nX-A: 1\r\nx-a: 2\r\nX-B: 3\r\n\r\n' },
  ],
  'a body that waits to be asked for': [
    { sends: ask('/echo', EXPECTS, 'POST'), until: /100 Continue/ },
    { sends: 'hello' },
  ],
  'a handler that asks for the body': [
    { sends: ask('/continue', EXPECTS, 'POST'), until: /100 Continue/ },
    { sends: 'hello' },
  ],
  'a body that is refused': [{ sends: ask('/refuse', EXPECTS, 'POST') }],
  'another expectation': [{ sends: ask('/echo', ['Expect: more', 'Content-Length: 0', ...CLOSE], 'POST') }],
  'interim answers': [{ sends: ask('/hints', CLOSE) }],
  'a pipeline': [{ sends: ask('/slow/1') + ask('/slow/2') + ask('/fast') + ask('/slow/3', CLOSE) }],
  'a pipeline of streams': [{ sends: ask('/stream/a') + ask('/stream/b') + ask('/hints', CLOSE) }],
  'a pipeline of bodies': [
    {
      sends: [
        `${ask('/echo', ['Content-Length: 3'], 'POST')}abc`,
        `${ask('/trailers', ['Content-Length: 3'], 'POST')}def`,
        `${ask('/refuse', ['Content-Length: 3'], 'POST')}ghi`,
      ].join(''),
    },
  ],
  'as many as a connection may have': [
    ...['/fast', '/fast', '/fast', '/fast'].map((path, n) => ({
      sends: ask(path),
      until: new RegExp(`(fast[\\s\\S]*){${n + 1}}`),
    })),
    { sends: ask('/fast', CLOSE) },
  ],
  'an old client': [{ sends: 'GET /fast HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /stream/x HTTP/1.0\r\n\r\n' }],
};

const PATHS = [
  ...[
    '/timeout/response',
    '/timeout/request',
    '/timeout/nobody',
    '/timeout/later',
    '/socket',
    '/headers',
    '/end-socket',
  ],
  ...[
    '/raw',
    '/assign',
    '/cork',
    '/ticks',
    '/turns',
    '/corked',
    '/corked-turns',
    '/corked-on',
    '/resumed',
    '/buffers',
    '/until-close',
  ],
];

for (const [name, flags, replicas] of [
  ['loopback', ['--placement', 'loopback'], 0],
  ['eager', ['--placement', 'eager', '--threads', '1'], 1],
] as const) {
  test.serial(`${name}: all that comes and goes is the same`, async (t) => {
    const [plain, bridged] = await Promise.all([
      ServedApp.serve(t, { 'app.js': APP }, { flags: null }),
      ServedApp.serve(t, { 'app.js': APP }, { flags, replicas }),
    ]);
    const requests = PATHS.map((path) => [path, [{ sends: ask(path, [...CLOSE, 'X-L: caf\xe9']) }]] as const);
    for (const [what, turns] of [...Object.entries(TALKS), ...requests]) {
      const [before, after] = await Promise.all([plain, bridged].map(({ port }) => talk(port, turns)));
      t.is(after, before, what);
    }
    const said = ({ stdout }: ServedApp): string => stdout.replace(/^port .*$/m, '');
    await bridged.until(() => said(bridged).length >= said(plain).length);
    t.is(said(bridged), said(plain));
  });
}

/** Until the server closes. */
function talk(port: number, turns: readonly Turn[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    let at = 0;
    const socket = connect(port, '127.0.0.1');
    const goOn = (): void => {
      while (at < turns.length && (at === 0 || (turns[at - 1]?.until ?? / ?/).test(answer))) {
        socket.write(turns[at]?.sends ?? '', 'latin1');
        at++;
      }
    };
    socket.on('connect', goOn);
    socket.setEncoding('latin1').on('data', (text) => {
      answer += text;
      goOn();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer.replace(/^Date: .*$/gm, 'Date: -')));
  });
}
