/**
 * Installs Watt and Bun into a temporary folder, where they stay until that is tidied up: neither is needed for anything else.
 * Gives: the folder; or why it did not work, which leaves them out.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

export const WATT_VERSION = '3.65.0';
export const BUN_VERSION = '1.4.4';
const PACKAGES = [`wattpm@${WATT_VERSION}`, `@platformatic/node@${WATT_VERSION}`, `bun@${BUN_VERSION}`];
const MOST_MS = 180_000;

export type Installed = { readonly folder: string } | { readonly why: string };

export function installPeers(): Installed {
  const folder = join(tmpdir(), `fluxion-bench-watt-${WATT_VERSION}-bun-${BUN_VERSION}-${process.getuid?.() ?? 0}`);
  if (existsSync(folder)) return { folder };
  // Under another name, so that half of it is never taken for all.
  const made = `${folder}-${process.pid}`;
  mkdirSync(made, { recursive: true });
  writeFileSync(join(made, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', '--prefix', made, ...PACKAGES];
  const { status, error, stderr } = spawnSync('npm', words, { timeout: MOST_MS, encoding: 'utf8', cwd: made });
  const why = error?.message ?? (status === 0 ? whyBunFails(made) : lastLine(stderr));
  if (why !== null) {
    rmSync(made, { recursive: true, force: true });
    return { why };
  }
  renameSync(made, folder);
  return { folder };
}

/** Its program comes by a script of its package, which npm may have been told not to run. */
function whyBunFails(folder: string): string | null {
  const { status, error } = spawnSync(join(folder, 'node_modules', '.bin', 'bun'), ['--version'], { timeout: 10_000 });
  return status === 0 ? null : `bun does not start: ${error?.message ?? `exit code ${status}`}`;
}

function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.startsWith('npm error') && !line.includes('A complete log'));
  return lines.at(-1)?.slice('npm error '.length) ?? 'npm install failed';
}
