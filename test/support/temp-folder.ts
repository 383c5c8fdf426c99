import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** Relative path → text, or the target of a symbolic link. */
export interface Tree {
  readonly [path: string]: string | Link;
}

export interface Link {
  readonly linkTo: string;
}

export function link(linkTo: string): Link {
  return { linkTo };
}

/** A folder with these files, which goes away with the test. The path is real: no symbolic link in it. */
export function tempFolder(t: ExecutionContext, tree: Tree = {}): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'fluxion-test-')));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeTree(folder, tree);
  return folder;
}

export function writeTree(folder: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === 'string') writeFileSync(file, content);
    else symlinkSync(content.linkTo, file);
  }
}
