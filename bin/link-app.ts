/**
 * Reads:   an app: starts it, on a port of its own, until the linker has looked at what its routers hold.
 * Gives:   what the linker found. The app has ended then.
 * Reports: cli/live-failed, as BadInput.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { BadInput } from '../diagnostics/bad-input.js';
import { liveFailed } from '../diagnostics/catalogue.js';
import type { LinkReport, LiveReport } from '../flx/link-report.js';
import { ownFile } from './own-files.js';

export interface AppToLink {
  readonly entry: string;
  readonly args: readonly string[];
  readonly config: string | null;
}

const COMMAND = ownFile('dist/bin/fluxion.cjs');
const LISTEN_ANYWHERE = ownFile('dist/runtime/verify/listen-anywhere.cjs');

/** Long enough for an app that first asks others for something. */
const WAIT_MS = 60_000;
const LOOK_MS = 50;
const END_MS = 5_000;

export async function linkApp(app: AppToLink, cwd: string): Promise<LiveReport> {
  const folder = mkdtempSync(join(tmpdir(), 'fluxion-live-'));
  try {
    return await linkIn(folder, app, cwd);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function linkIn(folder: string, { entry, args, config }: AppToLink, cwd: string): Promise<LiveReport> {
  const file = join(folder, 'report.json');
  const flags = [
    '--placement',
    'eager',
    '--threads',
    '1',
    '--accept',
    'every',
    '--log-level',
    'silent',
    '--report',
    file,
  ];
  if (config !== null) flags.push('--config', config);
  const { NODE_OPTIONS: options = '', ...env } = process.env;
  const child = spawn(process.execPath, [COMMAND, 'run', ...flags, entry, ...args], {
    cwd,
    env: {
      ...env,
      NODE_OPTIONS: `${options} --require ${JSON.stringify(LISTEN_ANYWHERE)}`.trim(),
      FLUXION_VERIFY_OPTIONS: options,
      FLUXION_VERIFY_CHANNEL: '3',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => void (said = (said + text).slice(-MOST_SAID)));
  // Where it listens is of no interest here, but somebody has to hear it.
  const [, , , told] = child.stdio;
  if (told instanceof Readable) told.resume().on('error', () => {});
  const ended = once(child, 'close');
  const until = Date.now() + WAIT_MS;
  let link = readLink(file);
  while (link === null && child.exitCode === null && child.signalCode === null && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    link = readLink(file);
  }
  const isRunning = child.exitCode === null && child.signalCode === null;
  if (isRunning) {
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await ended;
    clearTimeout(hard);
  }
  if (link !== null) return link;
  const why = isRunning ? `it has not begun to listen within ${WAIT_MS / 1000} seconds` : 'it ended before it listened';
  throw new BadInput(liveFailed(entry, why, said.trim()));
}

/** The end of what the app says before it fails. */
const MOST_SAID = 2_000;

interface WrittenReport {
  readonly link: LinkReport | null;
  readonly aside: string | null;
  readonly accept: readonly { readonly alone: string | null }[];
}

/** Null until it is done. */
function readLink(file: string): LiveReport | null {
  try {
    const { link, aside, accept }: WrittenReport = JSON.parse(readFileSync(file, 'utf8'));
    // Where the program is why nothing leaves, the explanation has it in full.
    const other = aside?.startsWith('nothing ') ? null : aside;
    return link?.isDone === true ? { ...link, aside: other, alone: accept.map(({ alone }) => alone) } : null;
  } catch {
    return null;
  }
}
