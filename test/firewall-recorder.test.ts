import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { node24 } from './support/firewall-run.js';
import { tempFolder } from './support/temp-folder.js';

const recorder = fileURLToPath(new URL('../runtime/firewall/recorder.cjs', import.meta.url));

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `preload` runs before the program, with `record` at hand. */
function run(t: ExecutionContext, node: string, entry: string, text: string, preload: string | null): Result {
  const folder = tempFolder(t, {
    [entry]: text,
    ...(preload === null
      ? {}
      : { 'preload.cjs': `const { record } = require(${JSON.stringify(recorder)});\n${preload}` }),
  });
  const args = preload === null ? [] : ['--require', './preload.cjs'];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { status, stdout, stderr } = spawnSync(node, [...args, entry], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  const mask = (shown: string): string => shown.replaceAll(folder, '.').replaceAll(/pid: \d+/g, 'pid');
  return { status, stdout: mask(stdout), stderr: mask(stderr) };
}

const RECORD = "Object.defineProperty(globalThis, 'recorder', { value: record() });";

/** With the recorder as without. */
function assertUnseen(t: ExecutionContext, entry: string, text: string): void {
  for (const node of [process.execPath, node24]) {
    t.deepEqual(run(t, node, entry, text, RECORD), run(t, node, entry, text, null));
  }
}

test('errors look as without a recorder: stacks, codes, what ends the process', (t) => {
  assertUnseen(t, 'app.cjs', "function read() { require('fs').readFileSync('none') }\nread();");
  assertUnseen(t, 'app.cjs', "require('child_process').execSync('exit 3');");
  assertUnseen(t, 'app.mjs', "import { readdirSync } from 'node:fs';\nreaddirSync('none');");
  assertUnseen(
    t,
    'app.cjs',
    "Error.prepareStackTrace = (error, frames) => [error, 'own', frames.length, frames[0].getFunctionName()].join();\ntry { require('fs').readdirSync('none') } catch (error) { console.log(error.stack) }",
  );
  assertUnseen(
    t,
    'app.cjs',
    `const fs = require('fs'), { execSync } = require('child_process');
const attempt = (work) => { try { work() } catch (error) { console.log(error.stack, Object.keys(error)) } };
const deep = (n, work) => (n === 0 ? work() : deep(n - 1, work));
attempt(() => fs.readFileSync());
attempt(() => fs.statSync('none'));
attempt(() => fs.writeFileSync('none/x', ''));
attempt(() => execSync('exit 3', { stdio: 'pipe' }));
attempt(() => deep(30, () => fs.readdirSync('none')));
attempt(() => require('crypto').randomBytes(-1));
try { new Date(Symbol()) } catch ({ stack }) { console.log(stack.includes('firewall')) }
attempt(() => require('./none'));
attempt(() => { throw new Error('own') });`,
  );
});

test('a promise that nobody listens to is still unhandled', (t) => {
  assertUnseen(t, 'app.cjs', "require('fs').promises.readFile('none');");
  assertUnseen(
    t,
    'app.mjs',
    "import { readFile } from 'node:fs/promises';\nasync function load() { await readFile('none') }\nawait load();",
  );
});

test('functions and classes look as without a recorder', (t) => {
  assertUnseen(
    t,
    'app.cjs',
    `const fs = require('fs'), crypto = require('crypto'), os = require('os'), util = require('util');
const functions = [fs.readFileSync, fs.realpathSync, fs.realpathSync.native, fs.promises.readFile, crypto.randomBytes, crypto.randomUUID,
  Math.random, Date.now, Date, process.hrtime, process.hrtime.bigint, process.memoryUsage, os.hostname, performance.now];
// Node 26 shows of what is looked at through a proxy that it is one.
const inspect = (each) => util.inspect(each).replaceAll('Proxy(', '').replaceAll(')', '');
for (const each of functions) console.log(each.name, each.length, inspect(each), Object.getOwnPropertyNames(each).sort().join());
console.log(Object.keys(fs).join(), Object.keys(crypto).join(), Object.keys(process).length);
class Later extends Date { later() { return 1 } }
const later = new Later(0);
console.log(later, later.later(), later instanceof Date, later.constructor === Later, new Date(0), new Date(2020, 1, 1), new Date('x'));
console.log(new Date().constructor === Date, Date.prototype.constructor === Date, Object.prototype.toString.call(new Date()));
console.log(typeof Date(), Date.length, Date.UTC(2020, 0), Date.parse('2020-01-01'), typeof new Date(Date.now()).getTime());
console.log(\`\${os.platform}\`, structuredClone(new Date(1)), util.types.isDate(new Date()), JSON.stringify({ d: new Date(1) }));
console.log(fs.promises === require('fs/promises'), crypto.webcrypto === globalThis.crypto, Object.keys(globalThis).join());`,
  );
});

test('after stop the originals are back, and copies pass through', (t) => {
  const text = `
import { readFileSync, writeFileSync } from 'node:fs';
import fs from 'node:fs';
const copies = { read: readFileSync, random: Math.random, Date, now: performance.now.bind(performance) };
const before = recorder.take().calls.size;
writeFileSync('x', 'x');
recorder.stop();
const during = recorder.take().calls.size;
readFileSync('x'); copies.read('x'); copies.random(); Date.now(); new copies.Date(); copies.now(); Math.random();
console.log(during > before, recorder.take().calls.size === during);
console.log(fs.readFileSync === originals.readFileSync, readFileSync === originals.readFileSync, Math.random === originals.random);
console.log(Date.now === originals.now, Date === copies.Date, new Date().constructor === copies.Date);
fs.existsSync = () => 'mine';
recorder.stop();
console.log(fs.existsSync());`;
  const preload = `const { readFileSync } = require('fs');
globalThis.originals = { readFileSync, random: Math.random, now: Date.now };
${RECORD}`;
  for (const node of [process.execPath, node24]) {
    const { stdout, stderr } = run(t, node, 'app.mjs', text, preload);
    t.is(stdout, 'true true\ntrue true true\ntrue true true\nmine\n', stderr);
  }
});

test('what the app has replaced itself stays', (t) => {
  const text = `
const fs = require('fs');
const before = fs.readFileSync;
fs.readFileSync = function patched(...args) { return 'patched ' + before.apply(this, args) };
recorder.stop();
require('fs').writeFileSync('x', 'x');
console.log(fs.readFileSync('x', 'utf8'));`;
  t.is(run(t, process.execPath, 'app.cjs', text, RECORD).stdout, 'patched x\n');
});

test('a record has bounds: too many calls, too many bytes', (t) => {
  const calls =
    'for (let i = 0; i < 500; i++) Math.random(); console.log(recorder.take().tooLarge, recorder.take().calls.size)';
  const bytes =
    "require('fs').readFileSync(process.execPath); console.log(recorder.take().tooLarge, recorder.take().calls.size)";
  t.regex(
    run(t, process.execPath, 'app.cjs', calls, 'globalThis.recorder = record({ calls: 100 });').stdout,
    /more than 100 calls.* 0\n/,
  );
  t.regex(
    run(t, process.execPath, 'app.cjs', bytes, 'globalThis.recorder = record({ bytes: 1e6 });').stdout,
    /more than 1000000 bytes 0\n/,
  );
});

test('a record survives a structured clone', (t) => {
  const text = `
const fs = require('fs');
fs.statSync('.'); fs.readdirSync('.', { withFileTypes: true }); require('crypto').generateKeyPairSync('ed25519');
try { fs.readFileSync('none') } catch {}
fs.promises.readFile('app.cjs');
const first = recorder.take();
recorder.settled().then(() => {
  const { calls } = structuredClone(recorder.take());
  console.log([...first.calls.values()].flat().filter(({ kind }) => kind === 'pending').length, [...calls.values()].flat().map(({ kind }) => kind).join());
});`;
  t.is(run(t, process.execPath, 'app.cjs', text, RECORD).stdout, '1 gave,gave,gave,threw,gave\n');
});
