import { isAbsolute, relative, sep } from 'node:path';

/** A file as the user should see it: relative to the working directory where it lies below it, with forward slashes. */
export function displayPath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  const below = path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
  return below ? path.split(sep).join('/') : file;
}
