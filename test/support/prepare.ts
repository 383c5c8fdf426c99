import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../bin/commands.js';
import { BadInput } from '../../diagnostics/bad-input.js';
import cache from '../../runtime/cache.cjs';
import compiled from '../../runtime/compiled.cjs';

const compiler = fileURLToPath(new URL('../../bin/bundle/prepare.js', import.meta.url));

/**
 * Fills `cacheFolder` as the first `fluxion run` of the app would, which then finds it compiled: most of a compile of a small app
 * in a process of its own is the start of that process. What cannot be compiled is left to it, and so is what has been compiled before.
 */
export async function prepare(entry: string, cwd: string, cacheFolder: string): Promise<void> {
  const from = realpathSync(cwd);
  const file = resolve(from, entry);
  const key = compiled.keyOf({ kind: 'entry', file }, null, from, compiler);
  const keyFolder = join(cacheFolder, key);
  if (existsSync(keyFolder)) return;
  const folder = cache.newFolder(keyFolder);
  const command = { kind: 'prepare', entry: file, isFlx: false, folder, config: null, live: null } as const;
  try {
    await runCommand(command, from);
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
  }
}
