/**
 * Reads: the packages that an app uses, and its fluxions.
 * Gives: what `fluxion models` prints, as text for people and as data.
 */
import type { PackageKnown, PackageUse } from '../analyzer/list-packages.js';
import { displayPath } from '../diagnostics/display-path.js';
import { unreachable } from '../diagnostics/invariant.js';
import type { Fluxion, ModuleId } from '../flx/program.js';

export interface ShownModels {
  readonly entry: ModuleId;
  readonly packages: readonly PackageUse[];
  readonly fluxions: readonly Fluxion[];
  readonly cwd: string;
}

type Kind = PackageKnown['kind'];

const TITLES: { readonly [kind in Kind]: string } = {
  model: 'known by a model',
  read: 'read, as the app’s own code is',
  unknown: 'unknown: what calls them may do anything, and stays home',
};
const KINDS: readonly Kind[] = ['model', 'read', 'unknown'];

export function modelsText(shown: ShownModels): string {
  const { entry, packages } = shown;
  const count = (kind: Kind): number => ofKind(packages, kind).length;
  const lines = [
    `${entry}: ${packages.length} ${packages.length === 1 ? 'package' : 'packages'}; ${count('model')} known by a model, ${count('read')} read, ${count('unknown')} unknown`,
  ];
  const width = Math.max(0, ...packages.map(({ name }) => name.length));
  for (const kind of KINDS) {
    const uses = ofKind(packages, kind);
    if (uses.length > 0) lines.push('', `== ${TITLES[kind]} (${uses.length})`, '');
    for (const use of uses) {
      const asked = use.by === null ? '' : `, for ${use.by}`;
      lines.push(`${use.name.padEnd(width)}  ${knownText(use.known, shown.cwd)}${asked}`);
      for (const fluxion of keptBy(use, shown.fluxions))
        lines.push(`${' '.repeat(width)}  keeps home: ${fluxion.id} (${fluxion.at.module}:${fluxion.at.line})`);
    }
  }
  if (count('unknown') > 0) lines.push('', 'A model lifts that: docs/models.md shows how to write one.');
  return lines.join('\n');
}

function knownText(known: PackageKnown, cwd: string): string {
  switch (known.kind) {
    case 'model':
      return known.file === null ? 'built in' : displayPath(known.file, cwd);
    case 'read':
      return `${counted(known.modules, 'module')}, ${counted(known.characters, 'character')}`;
    case 'unknown':
      return known.why;
    default:
      return unreachable(known);
  }
}

export function modelsJson(shown: ShownModels): string {
  const packages = shown.packages.map((use) => {
    const known =
      use.known.kind === 'model' ? { kind: use.known.kind, file: shownFile(use.known, shown.cwd) } : use.known;
    return { name: use.name, by: use.by, ...known, keepsHome: keptBy(use, shown.fluxions).map(({ id }) => id) };
  });
  return JSON.stringify({ version: 1, entry: shown.entry, packages }, null, 2);
}

function shownFile({ file }: Extract<PackageKnown, { kind: 'model' }>, cwd: string): string | null {
  return file === null ? null : displayPath(file, cwd);
}

/** Fluxions of which it is said that they do not move because of this package. */
function keptBy({ name, known }: PackageUse, fluxions: readonly Fluxion[]): readonly Fluxion[] {
  if (known.kind !== 'unknown') return [];
  return fluxions.filter(({ reasons }) =>
    reasons.some(({ code, message }) => code === UNMODELLED && message.includes(`the package "${name}"`)),
  );
}

const UNMODELLED = 'pipeliner/package-unmodelled';

function ofKind(packages: readonly PackageUse[], kind: Kind): readonly PackageUse[] {
  return packages.filter(({ known }) => known.kind === kind);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
