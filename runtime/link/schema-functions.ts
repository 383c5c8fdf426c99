/**
 * Reads: the models of mongoose that start-up made on this loop.
 * Gives: names for the functions that validate their documents, by which the other loop finds its own.
 *
 * Errors of validation carry the function that refused. Both loops have made the same models of the same schemas.
 */
import Module from 'node:module';
import path from 'node:path';
import { isObject } from '../codec/kinds.js';

const require = Module.createRequire(import.meta.url);

const ENTRY = path.join(path.sep, 'node_modules', 'mongoose', 'lib', 'index.js');
/** Schemas in schemas; nobody nests them deeper. */
const MOST_DEEP = 8;

export class SchemaFunctions {
  #names: ReadonlyMap<object, string> = new Map();
  #functions: ReadonlyMap<string, object> = new Map();
  #counted = -1;

  nameOf(fn: object): string | undefined {
    this.#look();
    return this.#names.get(fn);
  }

  functionOf(name: string): object | undefined {
    this.#look();
    return this.#functions.get(name);
  }

  #look(): void {
    const models = listModels();
    if (models.size === this.#counted) return;
    this.#counted = models.size;
    const functions = new Map<string, object>();
    for (const [name, model] of models) listFunctions(read(model, 'schema'), name, functions, 0);
    this.#functions = functions;
    this.#names = new Map([...functions].map(([name, fn]) => [fn, name]));
  }
}

/** By the file of the package, the number of the connection, and their names. */
function listModels(): ReadonlyMap<string, unknown> {
  const models = new Map<string, unknown>();
  for (const file of Object.keys(require.cache)) {
    if (!file.endsWith(ENTRY)) continue;
    const connections = read(require.cache[file]?.exports, 'connections');
    for (const [index, connection] of (Array.isArray(connections) ? connections : []).entries()) {
      for (const [name, model] of entries(read(connection, 'models'))) models.set(`${file} ${index} ${name}`, model);
    }
  }
  return models;
}

function listFunctions(schema: unknown, way: string, into: Map<string, object>, depth: number): void {
  if (depth > MOST_DEEP) return;
  for (const [name, type] of entries(read(schema, 'paths'))) {
    const validators = read(type, 'validators');
    for (const [index, each] of (Array.isArray(validators) ? validators : []).entries()) {
      const fn = read(each, 'validator');
      if (typeof fn === 'function') into.set(`${way} ${name} ${index}`, fn);
    }
    const inner = read(type, 'schema');
    if (inner !== undefined) listFunctions(inner, `${way} ${name}`, into, depth + 1);
  }
}

function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : [];
}

function read(of: unknown, name: string): unknown {
  return isObject(of) ? Reflect.get(of, name) : undefined;
}
