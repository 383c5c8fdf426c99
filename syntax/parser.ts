/**
 * The parser and the scope analysis, as everybody here has them.
 *
 * Both packages are there as CommonJS and as ES modules. To import the ES modules takes Node more memory
 * and time: they import CommonJS themselves, and for that Node first starts a WebAssembly program that finds its exports.
 */
import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);
const espree: typeof import('espree') = load('espree');
const escope: typeof import('escope') = load('escope');

export const { parse } = espree;
export const { analyze } = escope;
