/**
 * Reads: the folder of a compiled program.
 * Gives: what V8 makes of modules' texts, kept there for the next start, which takes a tenth less for it, and for threads, from their first
 *        module on. Versions of Node before 22.10 cannot.
 */
import Module = require('node:module');
import path = require('node:path');
import process = require('node:process');

/** From now on. Gives what writes down what is new, and takes some milliseconds; null where nothing is kept, or somebody else does it. */
function keepCode(folder: string): (() => void) | null {
  // It would count less than was run.
  if (process.env.NODE_V8_COVERAGE !== undefined) return null;
  const [enable, flush] = ['enableCompileCache', 'flushCompileCache'].map((name): unknown => Reflect.get(Module, name));
  if (typeof enable !== 'function' || typeof flush !== 'function' || directory() !== null) return null;
  Reflect.apply(enable, Module, [`${folder}/code`]);
  return () => void Reflect.apply(flush, Module, []);
}

/** What a thread of this process finds in its environment, to go by the same code from its first module on. */
function envOfThreads(): { readonly [name: string]: string } {
  const found = directory();
  // Node has made a folder in the one that it was given, for its version.
  return found === null ? {} : { NODE_COMPILE_CACHE: path.dirname(found) };
}

/** Writes down what is new in this thread, if it goes by what is kept for this program. */
function writeOwnCode(folder: string): void {
  const flush: unknown = Reflect.get(Module, 'flushCompileCache');
  if (typeof flush === 'function' && directory()?.startsWith(`${folder}/code/`)) Reflect.apply(flush, Module, []);
}

function directory(): string | null {
  const get: unknown = Reflect.get(Module, 'getCompileCacheDir');
  const found: unknown = typeof get === 'function' ? Reflect.apply(get, Module, []) : undefined;
  return typeof found === 'string' ? found : null;
}

export = { keepCode, envOfThreads, writeOwnCode };
