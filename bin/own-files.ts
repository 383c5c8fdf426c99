/** Gives: where files of Fluxion's are, for code that is also bundled and then stands elsewhere. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const MANIFEST = 'fluxion/package.json';

/** `file` begins in the folder of the package: `dist/bin/fluxion.cjs`. */
export function ownFile(file: string): string {
  return join(require.resolve(MANIFEST), '..', file);
}

export function ownManifest(): unknown {
  return require(MANIFEST);
}
