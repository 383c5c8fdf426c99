/**
 * Reads: folders, and what is known of a path that the program puts together when it runs.
 * Gives: the files that it can be: those of the folder that it names, by the name that it gives them.
 *
 *     require('./plugins/' + name)                     plugins/*.js, plugins/*\/index.js
 *     require(path.join(__dirname, name, 'routes'))    *\/routes.js
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { PathPattern } from './lowering/constants.js';
import type { ResolveMode, Resolver } from './resolve-specifier.js';

/** A folder with more than this is no folder of modules. */
const MOST_FILES = 400;

/** What lies beside modules (views, texts) is not taken for one, though Node would try. */
const LOADED: ReadonlySet<string> = new Set(['.js', '.cjs', '.mjs', '.json']);

export interface Candidates {
  readonly files: readonly string[];
  /** What is in there had a say. */
  readonly folder: string;
}

export function listCandidates(
  { prefix, suffix }: PathPattern,
  fromFile: string,
  mode: ResolveMode,
  resolver: Resolver,
): Candidates {
  const whole = path.resolve(path.dirname(fromFile), `${prefix}*`);
  const [folder, begin] = [path.dirname(whole), path.basename(whole).slice(0, -1)];
  const found = new Set<string>();
  const names = entriesOf(folder).filter((name) => name.startsWith(begin) && !name.startsWith('.'));
  for (const name of names.length > MOST_FILES ? [] : names) {
    // The program may have the name with its ending, or put that behind it.
    for (const each of [name, path.parse(name).name]) {
      const resolution = resolver.resolve(`${path.join(folder, each)}${suffix}`, fromFile, mode);
      if (resolution.kind !== 'file' || !LOADED.has(path.extname(resolution.path))) continue;
      if (isModule(resolver.moduleKind(resolution.path))) found.add(resolution.path);
    }
  }
  return { files: [...found].sort(), folder };
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isModule(kind: ReturnType<Resolver['moduleKind']>): boolean {
  return kind !== 'other';
}
