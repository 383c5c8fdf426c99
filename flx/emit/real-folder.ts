import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Reads: the path of a folder that may not be there yet.
 * Gives: where it really is or will be: paths from it to other files must not go through a symbolic link.
 */
export function realFolder(path: string): string {
  const folder = resolve(path);
  try {
    return realpathSync.native(folder);
  } catch {
    // What else is wrong with it, whoever writes there will say.
    return dirname(folder) === folder ? folder : join(realFolder(dirname(folder)), basename(folder));
  }
}
