/**
 * Reads:   a record and the path of a program, as worker data.
 * Gives:   to its parent: what the program saw behind the firewall, what was stopped, and what it does once it is lifted.
 */
import fs = require('node:fs');
import url = require('node:url');
import workers = require('node:worker_threads');
import raising = require('../../runtime/firewall/raise.cjs');

const { parentPort, workerData } = workers;
const { exit } = process;
// As a function of a Node version that the table does not know.
Reflect.set(fs, 'fromTheFuture', () => fs.appendFileSync('future', 'x'));
const firewall = raising.raise(workerData.record, { ownEnv: true, repeatable: (name) => name === 'pool' });
Reflect.set(globalThis, 'seen', {});
Reflect.set(globalThis, 'started', () => {});
firewall.gaveUp((gaveUp) => parentPort?.postMessage({ gaveUp }));
Reflect.set(globalThis, 'inReplica', true);
void run();

async function run(): Promise<void> {
  const loaded = import(url.pathToFileURL(workerData.entry).href).then(
    () => 'done',
    (error) => `threw ${error instanceof Error ? error.stack : error}`,
  );
  await firewall.settled();
  const evaluated = await Promise.race([loaded, Promise.resolve('waits')]);
  const servers = firewall.servers.map(({ address, at, server }) => ({ address, at, says: server.address() }));
  const atStartup = { replica: Reflect.get(globalThis, 'seen'), evaluated, servers };
  const effects: string[] = [];
  const output: string[] = [];
  firewall.lift({
    exit: (code) => {
      parentPort?.postMessage({ exited: code });
      return exit.call(process, 0);
    },
    output: (fd, chunk) => void output.push(`${fd}:${Buffer.from(chunk)}`),
    process: (name, args) => void effects.push(`process.${name} ${args}`),
    listen: (_server, args) => void effects.push(`listen ${args}`),
    effect: (kind, what) => void effects.push(`${kind} ${what}`),
  });
  const later: unknown = Reflect.get(globalThis, 'later');
  const rearm = (): void => firewall.armed();
  rearm();
  const result: unknown = typeof later === 'function' ? await later(rearm) : null;
  const { blocked, misses } = firewall;
  parentPort?.postMessage(JSON.parse(JSON.stringify({ ...atStartup, blocked, misses, effects, output, result })));
  firewall.outside(() => exit.call(process, 0));
}
