/**
 * Reads:  source text and what Node takes it for.
 * Gives:  its syntax tree as ESTree has it, with offsets; and `analyze`, which binds the names of such a tree.
 * Throws: SyntaxError with the offset as `index`.
 *
 * Both packages are there as CommonJS and as ES modules. To import the ES modules takes Node more memory
 * and time: they import CommonJS themselves, and for that Node first starts a WebAssembly program that finds its exports.
 */
import { createRequire } from 'node:module';
import type * as es from 'estree';

const load = createRequire(import.meta.url);
const espree: typeof import('espree') = load('espree');
const escope: typeof import('escope') = load('escope');

export const { analyze } = escope;

/** `script` is what `eval` takes; CommonJS may also return at its top. */
export type SourceType = 'commonjs' | 'module' | 'script';

/** What each node of a tree has. */
export interface Offsets {
  readonly start: number;
  readonly end: number;
}

/** A pair of offsets for each node would take more room than all else of it. */
export function parse(text: string, sourceType: SourceType): es.Program {
  return espree.parse(text, { ecmaVersion: 'latest', sourceType }) as unknown as es.Program;
}

/** With such pairs, as `analyze` asks for them. */
export function parseWithRanges(text: string, sourceType: SourceType): es.Program {
  return espree.parse(text, { ecmaVersion: 'latest', sourceType, range: true }) as unknown as es.Program;
}
