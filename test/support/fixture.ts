/**
 * Reads: fixtures/<topic>/<case>/, each a small program with the outputs that it must have beside it.
 * Gives: the list of them, and for each what the compiler makes of it today; fixtures/README.md tells how they work.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Compilation, compile } from '../../compile.js';
import { BadInput } from '../../diagnostics/bad-input.js';
import { printDiagnostic } from '../../diagnostics/report.js';
import type { Diagnostic } from '../../diagnostics/types.js';
import { printExplain } from '../../flx/emit/explain.js';
import { jsonText, printJson } from '../../flx/emit/json.js';
import { placeForRun } from '../../flx/emit/place-for-run.js';
import { printFlx } from '../../flx/print.js';
import { toFlxProgram } from '../../flx/to-flx-program.js';

export interface Fixture {
  /** `state/counter-in-two-routes` */
  readonly name: string;
  readonly folder: string;
  readonly entry: string;
}

export type Outcome =
  | { readonly kind: 'compiled'; readonly compilation: Compilation }
  | { readonly kind: 'rejected'; readonly diagnostics: readonly Diagnostic[] };

/** From dist/test/support as well as from any other folder that tsc wrote to, as long as it lies in the repository. */
const root = fileURLToPath(new URL('../../../fixtures', import.meta.url));

export function findFixtures(): readonly Fixture[] {
  return foldersIn(root).flatMap((topic) => (NOT_PRINTED.has(topic) ? [] : fixturesOf(topic)));
}

/** Whole apps: what the compiler prints of them is nobody's business; what they answer is. */
const APPS = 'apps';
/** Apps of which it counts where their handlers run. */
const STYLES = 'styles';
/** Those that try to make a handler run where it must not. */
const ADVERSARIAL = 'adversarial';
const NOT_PRINTED: ReadonlySet<string> = new Set([APPS, STYLES, ADVERSARIAL]);

export function findApps(): readonly Fixture[] {
  return fixturesOf(APPS);
}

export function findStyles(): readonly Fixture[] {
  return fixturesOf(STYLES);
}

export function findAdversarial(): readonly Fixture[] {
  return fixturesOf(ADVERSARIAL);
}

export function findApp(name: string): Fixture {
  const found = findApps().find((app) => app.name === `${APPS}/${name}`);
  if (found === undefined) throw new Error(`there is no app ${name}`);
  return found;
}

function fixturesOf(topic: string): readonly Fixture[] {
  return foldersIn(join(root, topic)).map((name) => {
    const folder = join(root, topic, name);
    return { name: `${topic}/${name}`, folder, entry: entryOf(folder) };
  });
}

function foldersIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

const usualEntries = ['app.js', 'app.mjs', 'app.cjs'];

function entryOf(folder: string): string {
  const manifest = join(folder, 'fixture.json');
  if (existsSync(manifest)) {
    const value: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    if (typeof value === 'object' && value !== null && 'entry' in value && typeof value.entry === 'string')
      return value.entry;
    throw new Error(`${manifest} needs an "entry", as in {"entry": "bin/www"}`);
  }
  const found = usualEntries.find((name) => existsSync(join(folder, name)));
  if (found === undefined)
    throw new Error(`${folder} needs one of ${usualEntries.join(', ')}, or a fixture.json with an "entry"`);
  return found;
}

export async function compileFixture({ folder, entry }: Fixture): Promise<Outcome> {
  try {
    const compilation = await compile({ entry, cwd: folder });
    const errors = compilation.diagnostics.filter(({ severity }) => severity === 'error');
    // As the commands do it: an error in the user's program leaves nothing to print.
    return errors.length > 0 ? { kind: 'rejected', diagnostics: errors } : { kind: 'compiled', compilation };
  } catch (error) {
    if (error instanceof BadInput) return { kind: 'rejected', diagnostics: error.diagnostics };
    throw error;
  }
}

// ------------------------------------------------------------------------------------------------ expected files

export const expectedFiles = [
  'expected.flx',
  'expected.json',
  'expected.explain.txt',
  'expected.diagnostics.txt',
] as const;
export type ExpectedFile = (typeof expectedFiles)[number];

/** What the file should say; null where there is nothing of the kind: no program, nothing reported. */
export function printOutcome(outcome: Outcome, file: ExpectedFile): string | null {
  if (file === 'expected.diagnostics.txt') return printAll(diagnosticsOf(outcome));
  if (outcome.kind === 'rejected') return null;
  const { program } = outcome.compilation;
  switch (file) {
    case 'expected.flx':
      return printFlx(toFlxProgram(program));
    case 'expected.json':
      // Laid out, so that a difference is a line and not a fluxion.
      return jsonText(JSON.parse(printJson(program)));
    case 'expected.explain.txt':
      return printExplain(placeForRun(program));
  }
}

function diagnosticsOf(outcome: Outcome): readonly Diagnostic[] {
  return outcome.kind === 'compiled' ? outcome.compilation.diagnostics : outcome.diagnostics;
}

function printAll(diagnostics: readonly Diagnostic[]): string | null {
  return diagnostics.length === 0
    ? null
    : diagnostics.map((diagnostic) => `${printDiagnostic(diagnostic)}\n`).join('\n');
}

export function readExpected({ folder }: Fixture, file: ExpectedFile): string | null {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Explanations are for people, so a fixture has one only where somebody wants to look after its words. */
export function isWanted(fixture: Fixture, file: ExpectedFile): boolean {
  return file !== 'expected.explain.txt' || readExpected(fixture, file) !== null;
}

export function writeExpected({ folder }: Fixture, file: ExpectedFile, text: string): void {
  writeFileSync(join(folder, file), text);
}
