/**
 * Reads: what an app's modules ask for, with the code of packages and without it.
 * Gives: each package that it uses, and how it is known what that does.
 */
import type { PackageModel } from '../models/types.js';
import type { AskedPackage, ModuleGraph } from './load-modules.js';

export interface PackageUse {
  readonly name: string;
  /** The package that asks for it; null: the app itself does. */
  readonly by: string | null;
  readonly known: PackageKnown;
}

export type PackageKnown =
  /** `file`: the configuration that has it; null: Fluxion does. */
  | { readonly kind: 'model'; readonly file: string | null }
  | { readonly kind: 'read'; readonly modules: number; readonly characters: number }
  | { readonly kind: 'unknown'; readonly why: string };

export interface ListedGraphs {
  /** What the app's own modules ask for. */
  readonly asked: ReadonlyMap<string, AskedPackage>;
  /** With the code of packages; null where that was not looked at, or led to nothing. */
  readonly whole: ModuleGraph | null;
  /** Packages that would have been read, and why one was not. */
  readonly wanted: ReadonlySet<string>;
  readonly unread: ReadonlyMap<string, string>;
}

export interface KnownModels {
  isModelled(name: string): boolean;
  /** Those of the user, and the file that they are in. */
  readonly own: readonly PackageModel[];
  readonly file: string | null;
}

export function listPackages(graphs: ListedGraphs, models: KnownModels): readonly PackageUse[] {
  const { asked, whole } = graphs;
  const uses: PackageUse[] = [];
  for (const [name, { by, installed }] of new Map([...asked, ...(whole?.asked ?? [])])) {
    const read = whole?.facts.modules.filter(({ owner }) => owner === name) ?? [];
    const characters = read.reduce((sum, { text }) => sum + text.length, 0);
    const known: PackageKnown = models.isModelled(name)
      ? { kind: 'model', file: models.own.some((model) => model.name === name) ? models.file : null }
      : read.length > 0
        ? { kind: 'read', modules: read.length, characters }
        : { kind: 'unknown', why: installed ? whyUnread(name, by, graphs) : 'it is not installed' };
    uses.push({ name, by, known });
  }
  return uses.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function whyUnread(name: string, by: string | null, { whole, wanted, unread }: ListedGraphs): string {
  const why = unread.get(name) ?? whole?.refusals.get(name);
  if (why !== undefined) return why;
  if (by !== null) return 'it is not read for what asks for it';
  if (!wanted.has(name)) return 'no handler depends on it';
  return 'with its code there is more than can be told apart';
}
