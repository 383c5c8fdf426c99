import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { node24, type Run, type RunOptions, runStartup, tcpService, udpService } from './support/firewall-run.js';

function findAddon(): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    return require.resolve('@napi-rs/nice-linux-x64-gnu');
  } catch {
    return undefined;
  }
}

/** Evaluated to its end in the replica, and seen there as at home. */
function assertSame(t: ExecutionContext, { report, stderr }: Run): void {
  t.is(report.error, undefined, stderr);
  t.is(report.gaveUp, undefined);
  t.is(report.evaluated, 'done');
  t.deepEqual(report.replica, report.home);
}

// --- effects ---------------------------------------------------------------------------------------------------------

const FILES = `
const fs = require('fs');
const { execSync, spawn, spawnSync } = require('child_process');
const count = fs.existsSync('count') ? Number(fs.readFileSync('count', 'utf8')) : 0;
fs.writeFileSync('count', String(count + 1));
fs.appendFileSync('log', 'started,');
fs.appendFile('log-later', 'started,', () => {});
fs.promises.appendFile('log-promise', 'started,').then(() => (seen.promised = true));
fs.createWriteStream('stream', { flags: 'a' }).end('started,');
const fd = fs.openSync('opened', 'a');
seen.wrote = fs.writeSync(fd, 'started,');
fs.closeSync(fd);
try { fs.unlinkSync('old') } catch (error) { seen.unlink = error.code }
seen.made = fs.mkdirSync('made/deep', { recursive: true }) === undefined;
const temporary = fs.mkdtempSync('tmp-');
fs.writeFileSync(temporary + '/x', 'x');
seen.temporary = temporary;
console.log('printed by console');
process.stdout.write('printed by stdout\\n');
console.error('printed by stderr');
process.emitWarning('a warning');
seen.ran = execSync('echo ran >> ran; echo output').toString();
seen.status = spawnSync('sh', ['-c', 'echo ran >> ran; exit 3']).status;
const child = spawn('sh', ['-c', 'echo spawned >> ran']);
seen.child = [typeof child.stdout.on, typeof child.kill, child.stdin !== null];
process.on('exit', () => fs.appendFileSync('last-words', 'bye,'));
process.on('SIGTERM', () => fs.appendFileSync('last-words', 'terminated,'));
setInterval(() => fs.appendFileSync('ticks', new Error().stack.includes('at') ? 't' : ''), 5);
setTimeout(() => fs.appendFileSync('timeouts', 'once,'), 10);
setImmediate(() => fs.appendFileSync('timeouts', 'immediate,'));
setTimeout(() => started(), 200);
globalThis.later = () => new Promise((resolve) => setTimeout(() => {
  fs.appendFileSync('from-replica', 'later,');
  resolve('waited');
}, 50));
`;

async function checkFiles(t: ExecutionContext, options: RunOptions): Promise<void> {
  const run = await runStartup(t, 'app.cjs', { 'app.cjs': FILES, old: 'x' }, options);
  assertSame(t, run);
  const { read } = run;
  t.is(read('count'), '1');
  for (const file of ['log', 'log-later', 'log-promise', 'stream', 'opened']) t.is(read(file), 'started,', file);
  t.is(read('old'), null);
  t.is(read('ran')?.split('\n').sort().join(), ',ran,ran,spawned');
  t.is(read('last-words'), 'bye,');
  t.is(read('timeouts')?.split(',').sort().join(), ',immediate,once');
  t.is(run.stdout, 'printed by console\nprinted by stdout\n');
  t.is(run.stderr.match(/printed by stderr/g)?.length, 1);
  t.is(run.stderr.match(/a warning/g)?.length, 1);
  t.is(run.report.result, 'waited');
  t.is(read('from-replica'), 'later,');
  const blocked = run.report.blocked.map(({ what }) => what);
  for (const what of [
    'setInterval',
    'setTimeout',
    'setImmediate',
    'child_process',
    'fs.appendFile',
    'fs.createWriteStream',
  ]) {
    t.true(blocked.includes(what), what);
  }
  const line = FILES.split('\n').findIndex((text) => text.startsWith('setInterval')) + 1;
  t.true(run.report.blocked.some(({ at }) => at?.endsWith(`app.cjs:${line}:1`)));
}

test('files, output, subprocesses, timers and last words of start-up: once', (t) => checkFiles(t, {}));
test('the same on Node 24', (t) => checkFiles(t, { node: node24 }));

const NETWORK = (imports: string): string => `
${imports}
const database = net.connect(process.env.DATABASE, '127.0.0.1');
database.setNoDelay(true).setKeepAlive(true).setTimeout(20, () => {});
database.write('DROP TABLE users');
const mail = net.createConnection({ port: process.env.MAIL, host: '127.0.0.1' }, () => mail.write('MAIL FROM: app'));
const queue = new net.Socket();
queue.connect(Number(process.env.QUEUE), '127.0.0.1');
queue.once('connect', () => queue.write('SUBSCRIBE jobs'));
http.get({ port: process.env.HTTP, path: '/got' }, (response) => response.resume()).on('error', () => {});
const registration = http.request({ port: process.env.REGISTRY, method: 'POST', path: '/register', timeout: 20 }, () => {});
registration.on('error', () => {});
registration.end('I am here');
fetch('http://127.0.0.1:' + process.env.FETCH + '/fetched').catch(() => {});
https.get({ port: process.env.TLS, host: '127.0.0.1' }).on('error', () => {});
tls.connect({ port: process.env.TLS, host: '127.0.0.1' }).on('error', () => {});
http2.connect('http://127.0.0.1:' + process.env.HTTP2).on('error', () => {}).request({ ':path': '/' }).on('error', () => {});
dgram.createSocket('udp4').send('metric', process.env.UDP, '127.0.0.1');
dns.lookup('localhost', () => {});
const server = http.createServer((request, response) => response.end('served'));
seen.returned = server.listen(0, () => (seen.listening = typeof server.address().port)) === server;
seen.address = server.address()?.port > 0;
server.once('listening', () => (seen.once = true));
setTimeout(() => started(), 600);
`;
const MODULES = ['dgram', 'dns', 'http', 'http2', 'https', 'net', 'tls'];
const REQUIRES = MODULES.map((name) => `const ${name} = require('node:${name}');`).join('\n');
const IMPORTS = `import * as dns from 'node:dns';
import { createSocket } from 'node:dgram';
import http from 'node:http';
import * as http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
const dgram = { createSocket };
`;

async function checkNetwork(t: ExecutionContext, entry: string, text: string, options: RunOptions): Promise<void> {
  const names = ['DATABASE', 'MAIL', 'QUEUE', 'REGISTRY', 'TLS', 'HTTP2'];
  const services = await Promise.all(names.map(() => tcpService(t)));
  const [database, mail, queue, registry, tls, http2] = services;
  const reply = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
  const [httpService, fetchService, udp] = await Promise.all([
    tcpService(t, reply),
    tcpService(t, reply),
    udpService(t),
  ]);
  const env = Object.fromEntries(names.map((name, index) => [name, services[index]?.port ?? '']));
  const run = await runStartup(
    t,
    entry,
    { [entry]: text },
    {
      ...options,
      env: { ...env, HTTP: httpService.port, FETCH: fetchService.port, UDP: udp.port },
    },
  );
  assertSame(t, run);
  t.deepEqual(database?.heard, ['DROP TABLE users']);
  t.deepEqual(mail?.heard, ['MAIL FROM: app']);
  t.deepEqual(queue?.heard, ['SUBSCRIBE jobs']);
  t.is(registry?.heard.length, 1);
  t.is(tls?.heard.length, 2);
  t.is(http2?.heard.length, 1);
  t.is(httpService.heard.length, 1);
  t.is(fetchService.heard.length, 1);
  t.deepEqual(udp.heard, ['metric']);
  t.is(run.report.servers.length, 1);
  t.deepEqual(run.report.servers[0]?.says, run.report.servers[0]?.address);
  const blocked = new Set(run.report.blocked.map(({ what }) => what));
  for (const what of ['net.connect', 'http.request', 'fetch', 'http2.connect', 'dgram.send', 'dns.lookup']) {
    t.true(blocked.has(what), what);
  }
}

test('connections, requests and datagrams of start-up: once', (t) => checkNetwork(t, 'app.cjs', NETWORK(REQUIRES), {}));
test('the same in an ES module', (t) => checkNetwork(t, 'app.mjs', NETWORK(IMPORTS), {}));
test('the same on Node 24: modules', (t) => checkNetwork(t, 'app.mjs', NETWORK(IMPORTS), { node: node24 }));

test('what start-up goes on with later: computations are done, and their effects happen once', async (t) => {
  const text = `
const fs = require('fs'), crypto = require('crypto'), zlib = require('zlib'), { promisify } = require('util');
const log = (name) => { seen[name] = true; fs.appendFileSync('log', name + ',') };
crypto.scrypt('a', 'b', 32, () => log('scrypt'));
promisify(crypto.pbkdf2)('a', 'b', 1000, 32, 'sha1').then(() => log('pbkdf2'));
zlib.gzip('text', () => log('gzip'));
crypto.subtle.digest('SHA-256', Buffer.from('x')).then(() => log('digest'));
crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign']).then((key) =>
  crypto.subtle.exportKey('jwk', key)).then(({ k }) => { seen.key = k; log('key') });
WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => log('wasm'));
const { port1, port2 } = new MessageChannel();
port2.onmessage = () => { port2.close(); log('message') };
port1.postMessage(1);
process.nextTick(() => log('tick'));
queueMicrotask(() => log('microtask'));
import('./later.mjs').then(() => log('import'));
process.report.writeReport('report-of-node');
setTimeout(() => started(), 300);`;
  const tree = {
    'app.cjs': text,
    'later.mjs': "import { appendFileSync } from 'fs'; appendFileSync('log', 'module,');",
  };
  for (const options of [{}, { node: node24 }]) {
    const run = await runStartup(t, 'app.cjs', tree, options);
    assertSame(t, run);
    const names = [
      'digest',
      'gzip',
      'import',
      'key',
      'message',
      'microtask',
      'module',
      'pbkdf2',
      'scrypt',
      'tick',
      'wasm',
    ];
    t.deepEqual(run.read('log')?.split(',').sort().slice(1), names);
  }
});

// --- values ----------------------------------------------------------------------------------------------------------

const VALUES = `
const { execFileSync, execSync } = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const { isMainThread, parentPort, threadId, workerData } = require('worker_threads');
const cluster = require('cluster');
class Later extends Date {}
const attempt = (work) => { try { return work() } catch (error) { return [error.name, error.code, error.message, error.stack] } };
seen.random = [1, 2, 3].map(Math.random);
seen.more = Array.from({ length: 3 }, () => Math.random());
seen.ids = [crypto.randomUUID(), crypto.randomBytes(8).toString('hex'), crypto.randomInt(1e9), globalThis.crypto.randomUUID()];
const buffer = new Uint8Array(8);
seen.filled = [crypto.randomFillSync(buffer) === buffer, [...buffer], [...crypto.getRandomValues(new Uint8Array(4))]];
seen.webcrypto = [...globalThis.crypto.getRandomValues(new Uint16Array(4))];
seen.pair = crypto.generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
seen.pem = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256', publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } });
seen.dates = [Date.now(), new Date(), Date(), +new Later(), new Date(5).getTime(), new Date() instanceof Date, new Date().constructor === Date];
seen.clocks = [performance.now(), process.hrtime(), String(process.hrtime.bigint()), process.uptime()];
seen.machine = [os.hostname(), os.cpus().length, os.freemem(), os.loadavg(), os.userInfo(), os.networkInterfaces(), \`\${os.hostname}\`];
seen.memory = [process.memoryUsage(), process.memoryUsage.rss(), process.cpuUsage(), process.resourceUsage()];
seen.process = [process.pid, process.ppid, process.argv, process.argv0, process.execArgv, process.title, process.cwd(), process.umask(), process.connected];
seen.thread = [isMainThread, parentPort, threadId, workerData, cluster.isPrimary, cluster.isWorker];
seen.text = fs.readFileSync('data', 'utf8');
seen.again = fs.readFileSync('data').toString();
fs.writeFileSync('data', 'changed');
seen.changed = fs.readFileSync('data', 'utf8');
seen.exists = [fs.existsSync('data'), fs.existsSync('none')];
const stats = fs.statSync('data');
seen.stats = [stats, stats.isFile(), stats.mtime instanceof Date, String(fs.statSync('data', { bigint: true }).mtimeNs), fs.statfsSync('.').bsize];
seen.folder = [fs.readdirSync('.'), fs.readdirSync('.', { withFileTypes: true }).map((entry) => [entry.name, entry.isDirectory(), entry.isFile()])];
seen.real = [fs.realpathSync('.'), fs.realpathSync.native('.')];
const fd = fs.openSync('data');
const bytes = Buffer.alloc(4);
seen.read = [fs.readSync(fd, bytes), bytes.toString(), fs.fstatSync(fd).size];
fs.closeSync(fd);
seen.errors = [
  attempt(() => fs.readFileSync('none')),
  attempt(() => fs.readFileSync()),
  attempt(() => execSync('exit 4', { stdio: 'pipe' })),
  attempt(() => execFileSync('no-such-program')),
];
seen.commands = [execSync('echo $$').toString(), execFileSync(process.execPath, ['-p', '1+1'], { encoding: 'utf8' })];
seen.env = process.env.LATER;
process.env.LATER ??= 'set by start-up';
process.chdir('sub');
seen.moved = [process.cwd(), require('path').resolve('x')];
process.umask(0o77);
seen.masked = process.umask();
(async () => {
  seen.promised = await fs.promises.readFile('data', 'utf8');
  seen.promisedError = await fs.promises.stat('none').catch((error) => error.code);
  setTimeout(() => started(), 10);
})();
`;

async function checkValues(t: ExecutionContext, options: RunOptions): Promise<void> {
  const tree = { 'app.cjs': VALUES, data: 'first', 'sub/data': 'in the folder' };
  const run = await runStartup(t, 'app.cjs', tree, options);
  assertSame(t, run);
  t.deepEqual(run.report.misses, []);
  t.deepEqual(run.report.replica.text, 'first');
  t.false(JSON.stringify(run.report.home.errors).includes('firewall'));
}

test('what start-up made of chance, clocks, files and commands is the same in a replica', (t) => checkValues(t, {}));
test('the same values on Node 24', (t) => checkValues(t, { node: node24 }));

test('ES modules: named imports of what is recorded', async (t) => {
  const text = `
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'fs';
import { hrtime } from 'node:process';
seen.values = [randomUUID(), readFileSync('data', 'utf8'), existsSync('none'), hrtime(), await readFile('data', 'utf8')];
seen.meta = import.meta.url.slice(-7);
setTimeout(started, 20);`;
  for (const options of [{}, { node: node24 }]) {
    const run = await runStartup(t, 'app.mjs', { 'app.mjs': text, data: 'text' }, options);
    assertSame(t, run);
    t.deepEqual(run.report.misses, []);
  }
});

test('what Node loads when it is read for the first time is loaded where the app reads it, and is what it is everywhere', async (t) => {
  const text = (reads: boolean): string => `
const http = require('http');
const isLoaded = () => process.moduleLoadList.some((name) => name.endsWith('deps/undici/undici'));
seen.before = isLoaded();
if (${reads}) {
  seen.same = WebSocket === http.WebSocket;
  seen.kind = [typeof WebSocket, WebSocket.name, WebSocket.OPEN];
  seen.property = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket').writable;
  seen.state = new WebSocket('ws://localhost:1').readyState;
  seen.after = isLoaded();
}
globalThis.later = () => [isLoaded(), typeof WebSocket, WebSocket === http.WebSocket, isLoaded()];
setTimeout(() => started(), 20);`;
  for (const reads of [false, true]) {
    const run = await runStartup(t, 'app.cjs', { 'app.cjs': text(reads) }, { node: node24 });
    assertSame(t, run);
    t.is(run.report.replica.before, false);
    t.deepEqual(run.report.result, [reads, 'function', true, true]);
  }
});

test('asynchronous calls that only home makes shift nothing', async (t) => {
  const text = `
const { randomUUID } = require('crypto');
const make = () => randomUUID();
seen.first = make();
setTimeout(make, 1); setTimeout(make, 2);
setTimeout(() => started(), 50);
Promise.resolve().then(() => (seen.second = make()));`;
  assertSame(t, await runStartup(t, 'app.cjs', { 'app.cjs': text }));
});

test('what is made of chance inside of Node differs, and is named', async (t) => {
  const text = `
const crypto = require('crypto');
const { privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
seen.signature = crypto.createSign('sha256').update('x').sign(privateKey, 'hex');
seen.once = crypto.sign('sha256', Buffer.from('x'), privateKey).toString('hex');
crypto.createECDH('secp256k1').generateKeys();
setTimeout(() => started(), 10);`;
  const run = await runStartup(t, 'app.cjs', { 'app.cjs': text });
  assertSame(t, run);
  t.deepEqual(
    run.report.misses.map(({ what }) => what),
    ['ECDH.generateKeys'],
  );
});

test('a program that asks for chance and time again and again is not held up', async (t) => {
  const text = `
const fs = require('fs');
let sum = 0;
for (let i = 0; i < 300000; i++) sum += Math.random() + Date.now() % 2 + performance.now() % 2 + new Date() % 2;
seen.text = fs.readFileSync('data', 'utf8');
seen.sum = sum > 0;
setTimeout(() => started(), 10);`;
  const run = await runStartup(t, 'app.cjs', { 'app.cjs': text, data: 'text' });
  assertSame(t, run);
  const missed = run.report.misses.map(({ what }) => what).sort();
  t.deepEqual(missed, ['Date', 'Date.now', 'Math.random', 'performance.now']);
});

test('what start-up makes and never speaks looks alive', async (t) => {
  const text = `
const { fork, exec, execFile } = require('child_process');
const fs = require('fs'), dgram = require('dgram'), readline = require('readline'), tls = require('tls'), net = require('net');
const { Worker, BroadcastChannel } = require('worker_threads');
const { promisify } = require('util');
const events = require('events');
const kinds = (object, ...keys) => keys.map((key) => typeof object[key]).join();
const timer = setTimeout(() => {}, 1);
seen.timer = [timer.hasRef(), timer.unref() === timer, timer.hasRef(), timer.ref().hasRef(), timer.refresh() === timer, timer.constructor.name, Number(timer) > 0, clearTimeout(timer)];
const interval = setInterval(() => {}, 1, 'x');
seen.interval = [interval.hasRef(), interval.close() === interval];
seen.immediate = [setImmediate(() => {}).hasRef(), (() => { try { setTimeout('text') } catch (error) { return error.code } })()];
seen.promised = [kinds(promisify(setTimeout)(1), 'then'), kinds(require('timers/promises').setInterval(1), 'next')];
const child = fork('child.cjs');
seen.child = kinds(child, 'pid', 'send', 'kill', 'on', 'disconnect') + child.connected + child.stdout;
seen.exec = kinds(exec('true', () => {}).stdout, 'on', 'pipe') + kinds(execFile('true'), 'kill');
const worker = new Worker('process.exit()', { eval: true });
seen.worker = [worker instanceof Worker, kinds(worker, 'postMessage', 'terminate', 'threadId', 'on'), worker.ref(), worker.postMessage(1)];
const channel = new BroadcastChannel('news');
channel.onmessage = () => {};
seen.channel = [channel.name, channel.postMessage('hello')];
seen.watch = kinds(fs.watch('.'), 'close', 'on') + kinds(fs.watchFile('child.cjs', () => {}), 'unref');
const lines = readline.createInterface({ input: process.stdin, output: process.stdout });
lines.on('line', () => {}); lines.question('Name? ', () => {}); lines.close();
seen.stdin = [process.stdin.fd, kinds(process.stdin, 'on', 'pause', 'setEncoding'), process.stdin.isTTY, process.stdout.isTTY, process.stdout.fd];
seen.stdout = [process.stdout.write('x'), typeof process.stdout.columns, process.stdout.writable];
const socket = net.connect(1, '127.0.0.1'); socket.on('error', () => {});
seen.socket = [socket.connecting, socket.pending, socket.readyState, socket.setTimeout(5) === socket, socket.timeout, socket.write('x'), socket.ref() === socket];
const secure = tls.connect(1, '127.0.0.1'); secure.on('error', () => {});
seen.secure = [secure.connecting, secure.encrypted];
const udp = dgram.createSocket('udp4'); udp.unref();
seen.udp = udp.bind(0) === udp;
seen.signals = [process.on('SIGINT', () => {}) === process, process.listenerCount('SIGINT'), process.kill(process.pid, 0)];
seen.aborted = AbortSignal.timeout(1).aborted;
events.once(process, 'SIGUSR1');
for (const each of [socket, secure]) each.destroy();
fs.unwatchFile('child.cjs');
child.once('message', () => { child.kill(); channel.close(); worker.terminate(); started() });
`;
  const tree = {
    'app.cjs': text,
    'child.cjs': "require('fs').appendFileSync('forks', 'x'); process.send('up'); setInterval(() => {}, 1000);",
  };
  for (const options of [{}, { node: node24 }]) {
    const run = await runStartup(t, 'app.cjs', tree, options);
    assertSame(t, run);
    t.is(run.read('forks'), 'x');
  }
});

// --- ways out --------------------------------------------------------------------------------------------------------

test('a replica that goes another way than home ends, and says why', async (t) => {
  const cases = {
    'if (globalThis.inReplica) process.exit(3)': /process\.exit\(3\) at .*app\.cjs:1:35/,
    "if (globalThis.inReplica) require('child_process').execSync('echo x >> future')": /execSync.* no such subprocess/,
    "require('fs').fromTheFuture()": /fs\.fromTheFuture at .*app\.cjs:1:15/,
    "if (globalThis.inReplica) process.dlopen({ exports: {} }, '/nowhere/x.node')": /native addon/,
    "try { process.binding('fs') } catch {}": /process\.binding\(fs\)/,
  };
  for (const [line, reason] of Object.entries(cases)) {
    const run = await runStartup(t, 'app.cjs', { 'app.cjs': `${line};\nsetTimeout(() => started(), 10);` });
    t.regex(run.report.gaveUp ?? '', reason, line);
    const once = line.includes('fromTheFuture') ? 'x' : null;
    t.is(run.read('future'), once);
  }
});

test('a native addon may be loaded; who calls it at start-up ends the replica', async (t) => {
  const addon = findAddon();
  if (addon === undefined) return t.pass('no native addon is installed here');
  const load = `const native = require(${JSON.stringify(addon)}); const name = Object.keys(native).find((key) => typeof native[key] === 'function');`;
  const loaded = await runStartup(t, 'app.cjs', { 'app.cjs': `${load} setTimeout(() => started(), 10);` });
  assertSame(t, loaded);
  const called = await runStartup(t, 'app.cjs', {
    'app.cjs': `${load} try { native[name]() } catch {} setTimeout(() => started(), 10);`,
  });
  t.regex(called.report.gaveUp ?? '', /native .* is called at .*app\.cjs:1/);
});

test('an error that home did not have is an error of the replica', async (t) => {
  const text = "if (globalThis.inReplica) throw new Error('not here'); setTimeout(() => started(), 10);";
  const { report } = await runStartup(t, 'app.cjs', { 'app.cjs': text });
  t.regex(report.evaluated, /not here/);
});

test('a connection awaited at top level: made once, and the replica waits for ever', async (t) => {
  const service = await tcpService(t, 'ready');
  const text = `
import net from 'node:net';
import { once } from 'node:events';
const socket = net.connect(process.env.PORT, '127.0.0.1');
socket.write('HELLO');
await once(socket, 'data');
seen.connected = true;
started();`;
  const { report } = await runStartup(t, 'app.mjs', { 'app.mjs': text }, { env: { PORT: service.port } });
  t.deepEqual(service.heard, ['HELLO']);
  t.is(report.evaluated, 'waits');
  t.is(report.replica.connected, undefined);
  t.regex(report.blocked.find(({ what }) => what === 'net.connect')?.at ?? '', /app\.mjs:4:20/);
});

test('a package that connects is named, and may be safe to repeat', async (t) => {
  const service = await tcpService(t);
  const run = await runStartup(
    t,
    'app.cjs',
    {
      'app.cjs': `
const sockets = [require('pool'), require('@scope/other')];
const isWritten = (socket) => socket.bytesWritten > 0 && socket.writableLength === 0;
const look = () => (sockets.every(isWritten) ? started() : setTimeout(look, 5));
setTimeout(look, 5);`,
      'node_modules/pool/index.js':
        "(module.exports = require('net').connect(process.env.PORT, '127.0.0.1')).write('pool');",
      'node_modules/@scope/other/index.js':
        "(module.exports = require('net').connect(process.env.PORT, '127.0.0.1')).write('other');",
    },
    { env: { PORT: service.port } },
  );
  await service.settled();
  t.deepEqual([...service.heard].sort(), ['other', 'pool']);
  const connections = run.report.blocked.filter(({ what }) => what === 'net.connect');
  t.deepEqual(
    connections.map((blocked) => [blocked.package, blocked.repeatable]),
    [
      ['pool', true],
      ['@scope/other', false],
    ],
  );
});

// --- lifted ----------------------------------------------------------------------------------------------------------

test('once lifted, effects are real and told once; the process is home’s', async (t) => {
  const service = await tcpService(t, 'pong');
  const text = `
const fs = require('fs');
const { writeFileSync, readFileSync } = fs;
const net = require('net');
const { setTimeout: wait } = require('timers/promises');
const { execSync } = require('child_process');
const startedAt = performance.now();
const dead = setInterval(() => fs.appendFileSync('ticks', 'x'), 1);
const client = net.connect(process.env.PORT, '127.0.0.1');
client.on('data', () => {});
process.on('exit', () => fs.appendFileSync('exits', 'x'));
setTimeout(() => { clearInterval(dead); client.destroy(); started(); }, 30);
globalThis.later = async (rearm) => {
  console.log('one'); process.stdout.write('two'); console.error('three');
  writeFileSync('a', 'x'); writeFileSync('a', 'x'); rearm();
  readFileSync('a'); fs.existsSync('a'); await fs.promises.readFile('a'); rearm();
  await fs.promises.writeFile('b', 'x'); rearm();
  await new Promise((resolve) => fs.writeFile('b', 'x', resolve)); rearm();
  execSync('true'); rearm();
  const four = fs.writeSync(1, 'four'); rearm();
  const five = await new Promise((resolve) => fs.write(2, Buffer.from('fünf'), (...all) => resolve(all.map(String)))); rearm();
  const socket = net.connect(process.env.PORT, '127.0.0.1', () => socket.write('ping'));
  const answer = await new Promise((resolve) => socket.on('data', resolve)); rearm();
  const fetched = await fetch('http://127.0.0.1:' + process.env.PORT).catch(() => 'failed'); rearm();
  process.chdir('/'); process.kill(process.pid, 'SIGTERM');
  net.createServer().listen(0);
  await wait(5);
  const elapsed = performance.now() - startedAt;
  const real = [Math.random(), Date.now(), new Date().getTime()];
  setTimeout(() => process.exit(7), 5);
  await new Promise((resolve) => setTimeout(resolve, 1));
  return { answer: String(answer), four, five, elapsed: elapsed > 30 && elapsed < 20000, fetched, dead: dead.hasRef(), real: real[1] > 1e12 && real[2] - real[1] < 1000, at: startedAt };
};`;
  for (const options of [{}, { node: node24 }]) {
    const run = await runStartup(t, 'app.cjs', { 'app.cjs': text }, { ...options, env: { PORT: service.port } });
    const { report } = run;
    t.is(report.error, undefined, run.stderr);
    t.deepEqual(report.output, ['1:one\n', '1:two', '2:three\n', '1:four', '2:fünf']);
    t.deepEqual(report.effects, [
      'files fs.writeFileSync',
      'files fs/promises.writeFile',
      'files fs.writeFile',
      'subprocess child_process.execSync',
      'files fs.writeSync',
      'files fs.write',
      'network net.connect',
      'network net.connect',
      'process.chdir /',
      report.effects[9],
      'listen 0',
    ]);
    t.regex(report.effects[9] ?? '', /^process\.kill \d+,SIGTERM$/);
    t.like(report.result, { answer: 'pong', four: 4, elapsed: true, fetched: 'failed', dead: true, real: true });
    t.deepEqual(Reflect.get(Object(report.result), 'five'), ['null', '5', 'fünf']);
    t.is(run.read('exits'), 'x');
    t.is(run.stdout, '');
  }
});

test('every function of Node’s outward-facing modules is classified, on Node 20 and 24', (t) => {
  const script = fileURLToPath(new URL('./support/firewall-exports.cjs', import.meta.url));
  for (const node of [process.execPath, node24]) {
    const { stdout, stderr } = spawnSync(node, [script], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    t.deepEqual(JSON.parse(stdout).unlisted, [], stderr);
    t.deepEqual(JSON.parse(stdout).missing, [], stderr);
  }
});

test('once lifted, errors show the app and Node only', async (t) => {
  const text = `
const fs = require('fs'), net = require('net'), { execSync } = require('child_process');
setTimeout(() => started(), 10);
const attempt = (work) => { try { work() } catch (error) { return error.stack } };
globalThis.later = async () => [
  attempt(() => fs.writeFileSync('none/x', '')), attempt(() => fs.mkdirSync('app.cjs')), attempt(() => execSync('exit 1', { stdio: 'pipe' })),
  attempt(() => net.connect(-1)), attempt(() => fs.readFileSync('none')), attempt(() => new Date(Symbol())),
  await fs.promises.writeFile('none/x', '').catch((error) => error.stack), await fs.promises.readFile('none').catch((error) => error.stack),
];`;
  const { report } = await runStartup(t, 'app.cjs', { 'app.cjs': text });
  t.true(
    Array.isArray(report.result) &&
      report.result.length === 8 &&
      report.result.every((stack) => typeof stack === 'string'),
  );
  t.false(JSON.stringify(report.result).includes('runtime/firewall'), JSON.stringify(report.result, null, 1));
});
