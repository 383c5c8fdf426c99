/**
 * Reads:   a program, given as argument, and `FIREWALL_REPORT`, a path.
 * Gives:   at that path, as JSON, what became of the program's start-up in a replica: `node firewall-home.cjs app.js`.
 *
 * The program runs here as at home, with the recorder; when it has said `globalThis.started()`, a worker evaluates it
 * behind the firewall. What the program puts into `globalThis.seen` is compared by the test.
 */
import fs = require('node:fs');
import path = require('node:path');
import url = require('node:url');
import workers = require('node:worker_threads');
import recording = require('../../runtime/firewall/recorder.cjs');

const { writeFileSync } = fs;
const report = process.env.FIREWALL_REPORT ?? '';
const entry = path.resolve(process.argv[2] ?? '');
Reflect.deleteProperty(process.env, 'FIREWALL_REPORT');
process.argv.splice(1, 2, entry);
const { parentPort, Worker } = workers;
void parentPort;

Reflect.set(fs, 'fromTheFuture', () => fs.appendFileSync('future', 'x'));
const recorder = recording.record();
Reflect.set(globalThis, 'seen', {});
Reflect.set(globalThis, 'started', () => void startReplica());
void import(url.pathToFileURL(entry).href);

async function startReplica(): Promise<void> {
  await recorder.settled();
  recorder.stop();
  const record = recorder.take();
  const file = path.join(__dirname, 'firewall-replica.cjs');
  const worker = new Worker(file, { workerData: { record, entry }, env: { ...process.env, LATER: '1' } });
  const said: object[] = [];
  worker.on('message', (message: object) => said.push(message));
  worker.on('error', (error) => said.push({ error: String(error instanceof Error ? error.stack : error) }));
  worker.on('exit', () => {
    const seen: unknown = Reflect.get(globalThis, 'seen');
    writeFileSync(report, JSON.stringify({ home: seen, calls: record.calls.size, ...Object.assign({}, ...said) }));
    process.exit(0);
  });
}
