import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { BadInput } from '../diagnostics/bad-input.js';
import { entryNotFound, entryNotScript, entryUnreadable } from '../diagnostics/catalogue.js';
import { nearestWord } from '../diagnostics/nearest-word.js';
import { systemErrorCode, systemErrorWords } from '../diagnostics/system-error.js';
import { createResolver } from './resolve-specifier.js';

/**
 * Reads:   what the user named as the file that starts the app.
 * Gives:   its absolute, real path, found as `node <entry>` finds it (`app` for app.js, `.` for the folder's main).
 * Reports: cli/entry-not-found, cli/entry-not-a-script, cli/entry-unreadable, as BadInput.
 */
export function resolveEntry(entry: string, cwd: string): string {
  const wanted = resolve(cwd, entry);
  checkReachable(wanted, entry);
  const found = createResolver().resolve(wanted, join(cwd, 'entry'), 'require');
  if (found.kind === 'file' || (found.kind === 'package' && found.installed)) {
    checkReadable(found.path, entry);
    return found.path;
  }
  throw new BadInput(entryNotFound(entry, notFoundReason(wanted), nearEntry(wanted, entry)));
}

/** Things that are no mere absence: a folder that may not be entered, links that lead in a circle. */
function checkReachable(path: string, entry: string): void {
  try {
    statSync(path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return;
    throw new BadInput(entryUnreadable(entry, systemErrorWords(error)));
  }
}

function checkReadable(path: string, entry: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new BadInput(entryUnreadable(entry, systemErrorWords(error)));
  }
  // A device or a pipe may have no end, or no beginning.
  if (!statSync(path).isFile()) throw new BadInput(entryNotScript(entry, 'a device or a pipe'));
}

function notFoundReason(path: string): string {
  if (isFolder(path)) return 'it is a folder without an index.js and without a "main" in package.json';
  return isFolder(dirname(path)) ? 'there is no such file' : 'the folder it should be in does not exist';
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function nearEntry(path: string, entry: string): string | null {
  const name = nearestWord(basename(path), scriptsIn(dirname(path)));
  return name === null ? null : entry.slice(0, entry.length - basename(entry).length) + name;
}

function scriptsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /\.[cm]?js$/.test(name));
  } catch {
    return [];
  }
}
