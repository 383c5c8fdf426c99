/**
 * `npm run bench [-- --quick] [--only workload] [--peers a,b]`: every workload under every peer, in turns in one run. Says on the
 * terminal what was measured, and writes ratios as a table and a picture. Ends by itself, and leaves no process behind.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type BenchOptions, HELP, readArguments } from './support/arguments.js';
import { installPeers } from './support/install-peers.js';
import { LoadProcess } from './support/load-process.js';
import { measureLoad, measureStarts, type Plan } from './support/measure.js';
import { printPicture } from './support/picture.js';
import { summarise, type WorkloadSummary } from './support/summarise.js';
import { printPage, printText } from './support/tables.js';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function bench(options: BenchOptions, command: string): Promise<void> {
  const begin = performance.now();
  const node = options.node ?? process.execPath;
  const version = execFileSync(node, ['-p', 'process.version'], { encoding: 'utf8' }).trim().slice(1);
  const folder = mkdtempSync(join(tmpdir(), 'fluxion-bench-'));
  const clear = (): void => rmSync(folder, { recursive: true, force: true });
  // Servers are ended by whoever watches over this process: see support/server.ts.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      clear();
      process.kill(process.pid, signal);
    });
  }
  const load = new LoadProcess(node);
  try {
    const notes: string[] = [];
    const [load1 = 0] = loadavg();
    if (load1 > 0.5)
      notes.push(
        `The machine was busy with other things (load average ${load1.toFixed(1)} before): draw no conclusions.`,
      );
    const found = options.peers.some(({ isInstalled }) => isInstalled) ? installPeers() : null;
    const installed = found !== null && 'folder' in found ? found.folder : null;
    if (found !== null && 'why' in found) notes.push(`Watt and Bun could not be installed: ${found.why}`);
    const machine = `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} cores`;
    const [seconds, warmSeconds] = [options.turnMs / 1000, options.warmMs / 1000];
    process.stdout.write(`${machine}, Node ${version}; the load comes from the same machine\n\n`);
    const done: WorkloadSummary[] = [];
    for (const [index, workload] of options.workloads.entries()) {
      const around = { node, folder, installed };
      // What is left is for all that is still to come.
      const left = options.budgetMs - (performance.now() - begin);
      const until = performance.now() + left / (options.workloads.length - index);
      const plan: Plan = { rounds: options.rounds, turnMs: options.turnMs, warmMs: options.warmMs, until, say };
      const cells =
        workload.streams.length > 0
          ? await measureLoad(workload, options.peers, load, around, plan)
          : await measureStarts(workload, options.peers, around, { ...plan, rounds: options.starts });
      const summary = summarise(workload, cells);
      if (summary.rounds < options.rounds) notes.push(`${workload.title}: ${summary.rounds} rounds, for want of time`);
      for (const { peer, failure } of cells) {
        if (failure === null) continue;
        say(`${workload.name}: ${peer.label}: ${failure}`);
        process.exitCode = 1;
      }
      done.push(summary);
      process.stdout.write(`${printText(summary)}\n`);
    }
    for (const note of notes) process.stdout.write(`${note}\n`);
    const page = printPage(done, { command, machine, node: version, seconds, warmSeconds, notes });
    if (options.out === null) process.stdout.write(page.slice(Math.max(0, page.indexOf('## Aims'))));
    else write(options.out, page, printPicture(done, `${machine}, Node ${version}`));
  } finally {
    load.close();
    clear();
  }
}

function write(folder: string, page: string, picture: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'results.md'), page);
  writeFileSync(join(folder, 'results.svg'), picture);
  process.stdout.write(`written: ${join(folder, 'results.md')}, results.svg\n`);
}

const words = process.argv.slice(2);
const options = readArguments(words, fileURLToPath(new URL('../../bench', import.meta.url)));
if ('wrong' in options) {
  process.stderr.write(options.wrong === '' ? HELP : `${options.wrong}\n\n${HELP}`);
  process.exitCode = options.wrong === '' ? 0 : 2;
} else await bench(options, ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' '));
