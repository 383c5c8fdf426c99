/**
 * How long a whole compile takes (from reading the files to the JSON text), and how much memory, against the floor: reading,
 * parsing and scope analysis of the same files. Ratios are what counts, as machines differ.
 *
 *     npm run bench:compile                  several sizes up to 5,000 files
 *     npm run bench:compile -- 200           one size only
 *     npm run bench:compile -- 200 dense     an app without the documentation, texts and sums that people write
 *
 *     floor, whole   one process each that does nothing else; the whole with the engine set as the command sets it. The
 *                    median of three, and their ratio
 *     warm           both in turns in one process, until the engine has compiled them: ratio of the medians, and its spread
 *     command        `fluxion compile --emit json` itself, from start to end, beside node with the floor: time, and that
 *                    of the processor
 *     memory         peak of the command, and what ten times the source and 100 MB would be
 */

import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'espree';
import { analyses, prepareEngine } from '../bin/prepare-engine.js';
import { compileToShow, type Engine } from '../compile.js';
import { jsonPieces } from '../flx/emit/json.js';
import { analyze } from '../syntax/parser.js';
import { generateApp, type Style } from './generate-app.js';

const sizes = [50, 200, 500, 1000, 2000, 5000];
const processes = 3;

type Work = 'floor' | 'whole' | 'turns';
interface Times {
  readonly floor: readonly number[];
  readonly whole: readonly number[];
}

/** In a process of its own, so that neither memory nor warm code is shared. */
function measure(work: Work, entry: string, rounds: number): Promise<Times> {
  const child = fork(fileURLToPath(import.meta.url), ['--measure', work, entry, String(rounds)]);
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Times));
    child.once('exit', (code) => reject(new Error(`the measuring process ended with ${code}`)));
  });
}

async function measureHere(work: string, entry: string, rounds: number): Promise<Times> {
  const floor: number[] = [];
  const whole: number[] = [];
  const engine = work === 'whole' ? engineOfCommand() : undefined;
  for (let round = 0; round < rounds; round++) {
    if (work !== 'whole') floor.push(await timed(() => runFloor(path.dirname(entry))));
    if (work !== 'floor') whole.push(await timed(() => runWhole(entry, engine)));
  }
  return { floor, whole };
}

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.js')).map((name) => path.join(folder, name));
}

function runFloor(folder: string): void {
  for (const file of listFiles(folder)) {
    const tree = parse(readFileSync(file, 'utf8'), { ecmaVersion: 'latest', sourceType: 'commonjs', range: true });
    analyze(tree as unknown as Parameters<typeof analyze>[0], { ecmaVersion: 2025, sourceType: 'commonjs' });
  }
}

function engineOfCommand(): Engine {
  const look = prepareEngine();
  return { loaded: analyses, tidy: look };
}

/** As `fluxion compile --emit json` does. */
async function runWhole(entry: string, engine: Engine | undefined): Promise<void> {
  const { program } = await compileToShow({ entry, cwd: path.dirname(entry), code: false, engine });
  const encoder = new TextEncoder();
  for (const piece of jsonPieces(program)) encoder.encode(piece);
}

async function timed(run: () => void | Promise<void>): Promise<number> {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}

interface Command {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** What the command takes; it says so itself when it ends, but for the time. */
function command(entry: string): Promise<Command> {
  const report = `import{writeSync}from"fs";process.on("exit",()=>{
    const{userCPUTime,systemCPUTime,maxRSS}=process.resourceUsage();
    writeSync(3,JSON.stringify({cpuMs:(userCPUTime+systemCPUTime)/1000,peakMb:maxRSS/1024})+"\\n")})`;
  const file = fileURLToPath(new URL('../bin/fluxion.cjs', import.meta.url));
  const words = ['--import', `data:text/javascript,${encodeURIComponent(report)}`, file, 'compile', entry];
  const begin = performance.now();
  const child = spawn(process.execPath, [...words, '--emit', 'json'], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let said = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code !== 0) return reject(new Error(`the command ended with ${code}`));
      // The process and its thread both say it; the process last, and for both.
      const last = JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as Omit<Command, 'ms'>;
      resolve({ ms: performance.now() - begin, ...last });
    });
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function alone(work: 'floor' | 'whole', entry: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < processes; n++) times.push((await measure(work, entry, 1))[work][0] ?? 0);
  return median(times);
}

async function thrice<Result>(run: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let n = 0; n < processes; n++) results.push(await run());
  return results;
}

async function row(files: number, folder: string, style: Style): Promise<string> {
  const entry = generateApp(folder, files, style);
  const all = listFiles(folder);
  const kilobytes = all.reduce((sum, file) => sum + readFileSync(file).length, 0) / 1024;
  const [floor, whole] = [await alone('floor', entry), await alone('whole', entry)];
  const commands = await thrice(() => command(entry));
  const turns = await measure('turns', entry, files > 1000 ? 3 : 9);
  // The first round of each is not warm.
  const [warmFloor, warmWhole] = [turns.floor.slice(1), turns.whole.slice(1)];
  const ratios = warmWhole.map((time, index) => time / (warmFloor[index] ?? time));
  const budget = (kilobytes * 10) / 1024 + 100;
  return [
    String(all.length).padStart(6),
    `${kilobytes.toFixed(0)} kB`.padStart(9),
    `${floor.toFixed(0)} ms`.padStart(8),
    `${whole.toFixed(0)} ms`.padStart(8),
    `${(whole / floor).toFixed(2)}x`.padStart(7),
    `${median(warmFloor).toFixed(0)} ms`.padStart(8),
    `${median(warmWhole).toFixed(0)} ms`.padStart(8),
    `${(median(warmWhole) / median(warmFloor)).toFixed(2)}x`.padStart(7),
    `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`.padStart(12),
    `${((whole * 1024) / kilobytes).toFixed(0)} ms`.padStart(8),
    `${median(commands.map(({ ms }) => ms)).toFixed(0)} ms`.padStart(13),
    `${median(commands.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms`.padStart(8),
    `${median(commands.map(({ peakMb }) => peakMb)).toFixed(0)} of ${budget.toFixed(0)} MB`.padStart(15),
  ].join('  ');
}

async function main(): Promise<void> {
  const [flag, work, entry, rounds] = process.argv.slice(2);
  const style = work === 'dense' ? 'dense' : 'plain';
  if (flag === '--measure') {
    process.send?.(await measureHere(work ?? 'turns', entry ?? '', Number(rounds)));
    return;
  }
  console.log(
    `node ${process.version}; floor: espree + eslint-scope on the same files; whole: all of a compile to JSON`,
  );
  console.log(
    ' files     source     floor     whole    ratio   warm: floor    whole    ratio        spread    per MB  command: time  cpu      peak memory',
  );
  for (const files of flag === undefined ? sizes : [Number(flag)]) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'fluxion-bench-'));
    try {
      console.log(await row(files, folder, style));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

await main();
