/**
 * Every code that Fluxion can report, one factory each, one file per phase. A file of the catalogue exports factories
 * and nothing else: `codes` is made from the exports, so a new factory is listed by being exported. A published code is
 * never renamed or used for something else. Each has a section in docs/diagnostics.md.
 */
import * as analyzer from './catalogue/analyzer.js';
import * as cli from './catalogue/cli.js';
import * as config from './catalogue/config.js';
import * as flx from './catalogue/flx.js';
import * as linker from './catalogue/linker.js';
import * as pipeliner from './catalogue/pipeliner.js';
import * as verify from './catalogue/verify.js';

export * from './catalogue/analyzer.js';
export * from './catalogue/cli.js';
export * from './catalogue/config.js';
export * from './catalogue/flx.js';
export * from './catalogue/linker.js';
export * from './catalogue/pipeliner.js';
export * from './catalogue/verify.js';

/** The codes by phase; the phase is the part of the code before the slash. */
export const codesByPhase: { readonly [phase: string]: readonly string[] } = {
  analyzer: codesOf(analyzer),
  cli: codesOf(cli),
  config: codesOf(config),
  flx: codesOf(flx),
  linker: codesOf(linker),
  pipeliner: codesOf(pipeliner),
  verify: codesOf(verify),
};

export const codes: readonly string[] = Object.values(codesByPhase).flat().sort();

function codesOf(factories: { readonly [name: string]: { readonly code: string } }): readonly string[] {
  return Object.values(factories).map((factory) => factory.code);
}
