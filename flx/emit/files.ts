/**
 * Reads: the whole program, and where its output folder will stand.
 * Gives: the files of that folder, by path:
 *
 *     app.js              named like the entry: starts the program below as `node app.js` starts the original
 *     app.flx             the program in the fluxional language
 *     fluxion.json        the program as data, and which emitted module stands for which original
 *     modules/app.js      each module of the app for the home loop, and its source map
 *     modules/app.js.map
 *     fluxion-home.cjs    what the starter runs: Fluxion itself is not needed
 *     package.json        says that app.js is CommonJS, whatever the folder above says
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { printFlx } from '../print.js';
import type { ModuleId, ModuleSource, ShownProgram } from '../program.js';
import { toFlxProgram } from '../to-flx-program.js';
import { emitHomeModule } from './home-module.js';
import { jsonText, printJson } from './json.js';

/** What the loader needs to know of one module; `runtime/home.cts` reads it. */
interface HomeEntry {
  /** From the output folder. */
  readonly file: string;
  readonly source: string;
  /** sha256 of the original text, without byte order mark. */
  readonly hash: string;
  readonly kind: ModuleSource['kind'];
  /** Fluxions that a message may reach from this module; without any, Node takes the original as it is. */
  readonly cuts: readonly string[];
}

/** `outDir`: absolute, without symbolic links in it. */
export function emitFiles(program: ShownProgram, outDir: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const home: Record<ModuleId, HomeEntry> = {};
  const folder = modulesFolder(program.entry);
  for (const source of program.sources) {
    const file = `${folder}/${source.id}`;
    const cuts = program.cuts.filter((cut) => cut.module === source.id);
    const emitted = emitHomeModule(source, cuts, {
      file: file.slice(file.lastIndexOf('/') + 1),
      source: pathFrom(resolve(outDir, file, '..'), source.file),
    });
    files.set(file, emitted.text).set(`${file}.map`, emitted.map);
    const hash = createHash('sha256').update(source.text).digest('hex');
    home[source.id] = { file, source: pathFrom(outDir, source.file), hash, kind: source.kind, cuts: emitted.cuts };
  }
  files.set('fluxion.json', printJson(program, { home }));
  files.set('app.flx', printFlx(toFlxProgram(program)));
  files.set(LOADER, loaderText());
  files.set('package.json', jsonText({ private: true, type: 'commonjs' }));
  return files.set(program.entry, starter(program));
}

const LOADER = 'fluxion-home.cjs';

/** The starter of an entry `modules/app.js` must not stand where the home program of `app.js` does. */
function modulesFolder(entry: ModuleId): string {
  let folder = 'modules';
  while (entry.startsWith(`${folder}/`)) folder = `${folder}-home`;
  return folder;
}

function pathFrom(folder: string, file: string): string {
  return relative(folder, file).split(sep).join('/');
}

function loaderText(): string {
  const text = readFileSync(new URL('../../runtime/home.cjs', import.meta.url), 'utf8');
  return text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/** An extension has the last word on what Node takes a file for; without one, package.json beside the loader has it. */
function starter({ entry, sources }: ShownProgram): string {
  const up = '../'.repeat(entry.split('/').length - 1);
  const loader = JSON.stringify(`${up === '' ? './' : up}${LOADER}`);
  const hashbang = /^#!.*/.exec(sources.find(({ id }) => id === entry)?.text ?? '');
  const first = hashbang === null ? '' : `${hashbang[0].trimEnd()}\n`;
  if (entry.endsWith('.mjs')) return `${first}import home from ${loader};\n\nhome.start(import.meta.filename);\n`;
  return `${first}require(${loader}).start(__filename);\n`;
}
