/**
 * How long a whole compile takes, and how much memory, against the floor: reading, parsing and scope analysis of the same
 * files. Both run in turns in this process; the ratio is what counts, as machines differ.
 *
 *     npm run bench:compile            200 files in turns, then the curve up to 5,000
 *     npm run bench:compile -- 200     one size only
 */

import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyze } from 'escope';
import { parse } from 'espree';
import { compile } from '../compile.js';
import { printJson } from '../flx/emit/json.js';
import { generateApp } from './generate-app.js';

const sizes = [50, 200, 500, 1000, 2000, 5000];

interface Measured {
  readonly files: number;
  readonly kilobytes: number;
  readonly floor: readonly number[];
  readonly whole: readonly number[];
  readonly peakMb: number;
}

/** One size in a process of its own, so that neither memory nor warm code is shared with another. */
async function measure(files: number, what: 'both' | 'whole'): Promise<Measured> {
  const child = fork(fileURLToPath(import.meta.url), ['--measure', String(files), what]);
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Measured));
    child.once('exit', (code) => reject(new Error(`the measuring process ended with ${code}`)));
  });
}

async function measureHere(files: number, what: string): Promise<Measured> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fluxion-bench-'));
  try {
    const entry = generateApp(folder, files);
    const all = listFiles(folder);
    const kilobytes = all.reduce((sum, file) => sum + readFileSync(file).length, 0) / 1024;
    const floor: number[] = [];
    const whole: number[] = [];
    const rounds = what === 'whole' ? 1 : files > 1000 ? 2 : 5;
    for (let round = 0; round < rounds; round++) {
      if (what === 'both') floor.push(timed(() => runFloor(all)));
      const begin = performance.now();
      printJson((await compile({ entry, cwd: folder })).program);
      whole.push(performance.now() - begin);
    }
    return { files: all.length, kilobytes, floor, whole, peakMb: process.resourceUsage().maxRSS / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.js')).map((name) => path.join(folder, name));
}

function runFloor(files: readonly string[]): void {
  for (const file of files) {
    const tree = parse(readFileSync(file, 'utf8'), { ecmaVersion: 'latest', sourceType: 'commonjs', range: true });
    analyze(tree as unknown as Parameters<typeof analyze>[0], { ecmaVersion: 2025, sourceType: 'commonjs' });
  }
}

function timed(run: () => void): number {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function row(both: Measured, alone: Measured): string {
  const ratios = both.whole.map((whole, index) => whole / (both.floor[index] ?? whole));
  const budget = (alone.kilobytes * 10) / 1024 + 100;
  return [
    String(both.files).padStart(6),
    `${both.kilobytes.toFixed(0)} kB`.padStart(10),
    `${median(both.floor).toFixed(0)} ms`.padStart(9),
    `${median(both.whole).toFixed(0)} ms`.padStart(9),
    `${(both.whole[0]! / both.floor[0]!).toFixed(2)}x`.padStart(8),
    `${median(ratios).toFixed(2)}x`.padStart(8),
    `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`.padStart(12),
    `${((median(both.whole) * 1024) / both.kilobytes).toFixed(0)} ms`.padStart(9),
    `${alone.peakMb.toFixed(0)} of ${budget.toFixed(0)} MB`.padStart(16),
  ].join('  ');
}

async function main(): Promise<void> {
  const [flag, size, what] = process.argv.slice(2);
  if (flag === '--measure') {
    process.send?.(await measureHere(Number(size), what ?? 'both'));
    return;
  }
  console.log(
    `node ${process.version}; floor: espree + eslint-scope on the same files, in turns with the whole compile to JSON`,
  );
  console.log(' files      source      floor      whole    first    median        spread    per MB       peak memory');
  for (const files of flag === undefined ? sizes : [Number(flag)]) {
    console.log(row(await measure(files, 'both'), await measure(files, 'whole')));
  }
}

await main();
