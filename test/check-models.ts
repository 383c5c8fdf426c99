/**
 * `npm run check:models [-- name …]`: installs the packages that have models, in several versions, in a folder of their own beside the
 * system's temporary files, and looks at each whether what its model says is so. FLUXION_MODELS names another folder.
 *
 * Each package is loaded in a process of its own. Nothing is asked of any server. What cannot be loaded here (native code
 * that was not built) is listed, and so are names that no version has. Exit code 1: some call does what its model does not say.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { packageModels } from '../models/index.js';
import type { PackageModel } from '../models/types.js';
import { impure, isObject, missing } from './support/model-against.js';
import { SAMPLES } from './support/model-samples.js';

const folder = process.env.FLUXION_MODELS ?? join(tmpdir(), 'fluxion-models');

/** Beside the newest. */
const OLDER: { readonly [name: string]: readonly number[] } = {
  ajv: [6],
  axios: [0],
  'body-parser': [1],
  chalk: [4],
  'connect-timeout': [1],
  cookie: [0],
  'date-fns': [2, 3],
  agenda: [4],
  express: [3, 4],
  'express-handlebars': [5],
  'express-rate-limit': [6, 7],
  'express-slow-down': [1],
  formidable: [2],
  'fs-extra': [10],
  glob: [7, 10],
  got: [11],
  helmet: [4, 6, 7],
  'http-proxy-middleware': [2],
  ioredis: [4],
  joi: [17],
  koa: [2],
  'lru-cache': [6, 7, 10],
  marked: [4, 12],
  mongodb: [4, 5, 6],
  mongoose: [6, 7, 8],
  mkdirp: [1],
  multer: [1],
  mysql2: [2],
  nanoid: [3],
  'node-cron': [3],
  'node-fetch': [2],
  nodemailer: [6],
  'p-limit': [3],
  'p-map': [4],
  passport: [0],
  pino: [7, 8, 9],
  redis: [3, 4],
  rimraf: [3],
  'serve-static': [1],
  'socket.io': [2, 3],
  stripe: [10],
  superagent: [8],
  uuid: [8, 9, 11],
  winston: [2],
  ws: [7],
  yup: [0],
  zod: [3],
};

interface Result {
  readonly wrong: readonly string[];
  readonly missing: readonly string[];
  /** Why it could not be loaded. */
  readonly unloaded: string | null;
}

const topOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
const aliasOf = (name: string, version: number | null): string =>
  version === null ? name : `${name.replace('@', '').replace('/', '-')}-${version}`;

function install(names: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  writeFileSync(join(folder, 'load.mjs'), 'export default (name) => import(name);\n');
  const specs = names.flatMap((name) => [
    ...[null, ...(OLDER[name] ?? [])].flatMap((version) =>
      existsSync(join(folder, 'node_modules', aliasOf(name, version)))
        ? []
        : [version === null ? name : `${aliasOf(name, version)}@npm:${name}@${version}`],
    ),
  ]);
  if (specs.length === 0) return;
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', ...flags, ...specs], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm could not install them');
}

/** As CommonJS if it is that: the names of its exports are not all known to `import`. */
async function load(spec: string): Promise<{ readonly [name: string]: unknown }> {
  try {
    const real: unknown = createRequire(join(folder, 'load.mjs'))(spec);
    return isObject(real) && real[Symbol.toStringTag] === 'Module' ? { ...real } : { default: real };
  } catch (error) {
    if (
      !/ERR_(REQUIRE_ESM|REQUIRE_ASYNC_MODULE|PACKAGE_PATH_NOT_EXPORTED)/.test(
        String(Reflect.get(Object(error), 'code')),
      )
    )
      throw error;
    const { default: importFrom } = await import(pathToFileURL(join(folder, 'load.mjs')).href);
    return importFrom(spec);
  }
}

/** In a process of its own. */
async function look(model: PackageModel, alias: string): Promise<Result> {
  const spec = alias + model.name.slice(topOf(model.name).length);
  const real = await load(spec).catch((error: unknown) => ({ error }));
  if ('error' in real) return { wrong: [], missing: [], unloaded: String(real.error).split('\n')[0] ?? '' };
  const { module } = model;
  const main = 'default' in real ? real.default : real;
  const value = typeof main === 'function' || Object.keys(real).length < 3 ? main : real;
  const lacks = missing(module, value, model.name);
  // An ES module may have it by name only, or in its default export only.
  const both = [real, main].map((each) => new Set(missing(module, each, model.name)));
  const gone = lacks.filter((path) => !path.includes('.default') && both.every((each) => each.has(path)));
  if ((module.call || module.construct) && typeof value !== 'function') gone.push(`${model.name} is no function`);
  for (const type of Object.keys(model.types ?? {})) {
    const sample = SAMPLES[`${model.name}.${type}`];
    if (sample === undefined) continue;
    try {
      const path = `${model.name}.${type}`;
      const found = [sample(value)].flat().map((each) => missing({ is: path }, each, path));
      gone.push(...(found[0] ?? []).filter((text) => found.every((each) => each.includes(text))));
    } catch (error) {
      gone.push(`${model.name}.${type} cannot be made: ${String(error)}`);
    }
  }
  return { wrong: impure(model, value), missing: gone, unloaded: null };
}

function check(model: PackageModel): readonly string[] {
  const top = topOf(model.name);
  const results: { readonly alias: string; readonly result: Result }[] = [];
  for (const version of [null, ...(OLDER[top] ?? [])]) {
    const alias = aliasOf(top, version);
    const args = [fileURLToPath(import.meta.url), '--one', model.name, alias];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000, cwd: folder });
    const line = stdout.split('\n').find((each) => each.startsWith(RESULT));
    const result: Result =
      line === undefined
        ? { wrong: [], missing: [], unloaded: 'its process ended' }
        : JSON.parse(line.slice(RESULT.length));
    results.push({ alias, result });
  }
  const loaded = results.filter(({ result }) => result.unloaded === null);
  for (const { alias, result } of results)
    if (result.unloaded !== null) console.log(`  ${alias} cannot be loaded: ${result.unloaded}`);
  // A name that no version has says nothing wrong, but what is really there may be called otherwise.
  const [newest] = loaded;
  for (const path of newest?.result.missing ?? [])
    if (loaded.every(({ result }) => result.missing.includes(path))) console.log(`  ${path}: no version has it`);
  return [...new Set(loaded.flatMap(({ alias, result }) => result.wrong.map((text) => `${text} (${alias})`)))];
}

const RESULT = 'result: ';

const [first, ...rest] = process.argv.slice(2);
if (first === '--one') {
  const model = packageModels.find(({ name }) => name === rest[0]);
  if (model === undefined) throw new Error(`no model of ${rest[0]}`);
  const result = await look(model, rest[1] ?? '');
  process.stdout.write(`\n${RESULT}${JSON.stringify(result)}\n`, () => process.exit());
} else {
  const wanted = new Set(process.argv.slice(2));
  const models = packageModels.filter(({ name }) => wanted.size === 0 || wanted.has(name) || wanted.has(topOf(name)));
  install([...new Set(models.map(({ name }) => topOf(name)))]);
  let count = 0;
  for (const model of models) {
    const wrong = check(model);
    count += wrong.length;
    for (const text of wrong) console.log(text);
  }
  console.log(`${models.length} models: ${count === 0 ? 'all is as they say' : `${count} things are not as they say`}`);
  process.exitCode = count === 0 ? 0 : 1;
}
