import { nearestWord } from '../diagnostics/nearest-word.js';
import type { Call, EventModel, Member, PackageModel, Put, Rupture, TypeModel } from '../models/types.js';

/**
 * Reads: whatever fluxion.config.js exports.
 * Gives: the same value, known to have the shape of the model types, or everything that is wrong with it, each with the
 *        path to it (`models[0].module.call.ruptures[0].kind`).
 */
export function checkConfig(value: unknown): CheckedConfig {
  const problems: ConfigProblem[] = [];
  if (isConfig(value, problems)) return { kind: 'good', config: value };
  return { kind: 'bad', problems };
}

export type CheckedConfig =
  | { readonly kind: 'good'; readonly config: ConfigFile }
  | { readonly kind: 'bad'; readonly problems: readonly ConfigProblem[] };

export interface ConfigFile {
  readonly models?: readonly PackageModel[];
}

export interface ConfigProblem {
  /** Empty for the value as a whole. */
  readonly at: string;
  readonly problem: string;
  readonly lift: string;
}

function isConfig(value: unknown, problems: ConfigProblem[]): value is ConfigFile {
  CONFIG(value, { at: '', problems, around: [] });
  return problems.length === 0;
}

// --- checks, and how they are put together ------------------------------------------------------------------------

interface Spot {
  readonly at: string;
  readonly problems: ConfigProblem[];
  /** The objects that the value lies in: one that holds itself would be walked for ever. */
  readonly around: readonly object[];
}

type Check = (value: unknown, spot: Spot) => void;

/** A field of an object; every field of the type must be listed, which tsc sees to. */
interface Field {
  readonly required: boolean;
  readonly check: Check;
}

type Fields<T> = { readonly [key in keyof Required<T>]: Field };

function required(check: Check): Field {
  return { required: true, check };
}

function optional(check: Check): Field {
  return { required: false, check };
}

function complain(spot: Spot, problem: string, lift = 'docs/diagnostics.md shows a whole configuration'): void {
  spot.problems.push({ at: spot.at, problem, lift });
}

function expected(what: string, value: unknown, spot: Spot, near: string | null = null): void {
  const message = `expected ${what}, found ${describe(value)}`;
  if (near === null) complain(spot, message);
  else complain(spot, message, `did you mean '${near}'?`);
}

/** Fields are asked for late, because the types contain each other. */
function object<T>(what: string, fields: () => Fields<T>): Check {
  return (value, spot) => {
    if (!isPlainObject(value)) return expected(what, value, spot);
    if (spot.around.includes(value)) return complain(spot, 'the object holds itself', 'write it as a tree');
    const around = [...spot.around, value];
    const known: { readonly [key: string]: Field } = fields();
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(known, key)) continue;
      const near = nearestWord(key, Object.keys(known));
      const lift = near === null ? `known are: ${Object.keys(known).join(', ')}` : `did you mean "${near}"?`;
      complain({ ...spot, at: within(spot.at, key) }, 'there is no such field', lift);
    }
    for (const [key, field] of Object.entries(known)) {
      const inner = { ...spot, at: within(spot.at, key), around };
      if (value[key] !== undefined) field.check(value[key], inner);
      else if (field.required) complain(inner, 'is missing', `add it to ${spot.at === '' ? 'the object' : spot.at}`);
    }
  };
}

function record(what: string, check: Check): Check {
  return (value, spot) => {
    if (!isPlainObject(value)) return expected(what, value, spot);
    if (spot.around.includes(value)) return complain(spot, 'the object holds itself', 'write it as a tree');
    const around = [...spot.around, value];
    for (const [key, inner] of Object.entries(value)) check(inner, { ...spot, at: within(spot.at, key), around });
  };
}

function list(what: string, check: Check): Check {
  return (value, spot) => {
    if (!Array.isArray(value)) return expected(what, value, spot);
    // By index: holes are not skipped.
    for (let index = 0; index < value.length; index++) check(value[index], { ...spot, at: `${spot.at}[${index}]` });
  };
}

function oneOf(...words: readonly string[]): Check {
  return (value, spot) => {
    if (typeof value === 'string' && words.includes(value)) return;
    const near = typeof value === 'string' ? nearestWord(value, words) : null;
    expected(alternatives(words.map(quote)), value, spot, near);
  };
}

function where(what: string, holds: (value: unknown) => boolean): Check {
  return (value, spot) => {
    if (!holds(value)) expected(what, value, spot);
  };
}

// --- what a configuration consists of -----------------------------------------------------------------------------

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

const yesOrNo = where('true or false', (value) => typeof value === 'boolean');
const argumentIndex = where('the index of an argument (0, 1, …)', isCount);
const callbackArgument = where(
  "the index of an argument, 'last' or 'functions'",
  (value) => isCount(value) || value === 'last' || value === 'functions',
);
const isCountOrAll = (value: unknown): boolean => isCount(value) || value === -1;
const mutated = where(
  "the index of an argument, -1 for all, or 'this'",
  (value) => isCountOrAll(value) || value === 'this',
);
const wholeNumber = where('a whole number', (value) => Number.isInteger(value));
const shared = where("true, false or 'kept'", (value) => typeof value === 'boolean' || value === 'kept');
const kept = where('the index of an argument, or -1 for all', isCountOrAll);

const SHORT_REFS = ['fresh', 'data', 'this', 'contents', 'copy', 'iterator', 'step', 'unknown'];
const WITHOUT = / without \d+$/;
const ARGUMENT_REF =
  /^(?:argument|contents|within|formed|result|results|bound argument|promisified argument) \d+$|^copy (?:-1|\d+)$/;
const TYPE_REF = /^(?:list of )?@?[\w$./-]+$/;

/** A short word, something about an argument (`result 0`), a type (`Promise`, `express.Response`), or some with `|`. */
const valueRef: Check = (value, spot) => {
  if (typeof value !== 'string') return expectedRef(value, null, spot);
  for (const part of value.split('|').map((text) => text.trim().replace(WITHOUT, ''))) {
    if (SHORT_REFS.includes(part) || ARGUMENT_REF.test(part)) continue;
    // Types begin with a capital or have a dot: what does not is a short word with a slip in it.
    const near = /[.A-Z]/.test(part) ? null : nearestWord(part, SHORT_REFS);
    if (!TYPE_REF.test(part) || near !== null) return expectedRef(part, near, spot);
  }
};

function expectedRef(found: unknown, near: string | null, spot: Spot): void {
  const words = alternatives(SHORT_REFS.map(quote));
  expected(`a type as 'package.Type', an argument as 'argument 0', or ${words}`, found, spot, near);
}

const packageName: Check = (value, spot) => {
  if (typeof value !== 'string' || value === '') return expected('the name of a package', value, spot);
  if (!value.startsWith('node:')) return;
  complain(spot, 'core modules are named without "node:"', `write '${value.slice('node:'.length)}'`);
};

const name = where('a name', (value) => typeof value === 'string');

const rupture = object<Rupture>('an object with "kind" and "callback"', () => ({
  kind: required(oneOf('start', 'post', 'sync')),
  callback: required(callbackArgument),
  from: optional(argumentIndex),
  params: optional(list('a list', valueRef)),
  errorParams: optional(list('a list', valueRef)),
  request: optional(yesOrNo),
  label: optional(argumentIndex),
  mounts: optional(yesOrNo),
  thisIsReceiver: optional(yesOrNo),
  thisIsResult: optional(yesOrNo),
  exactly: optional(oneOf('all', 'copies')),
  thisIs: optional(valueRef),
  within: optional(name),
  held: optional(yesOrNo),
  callsResult: optional(yesOrNo),
  runBy: optional(name),
}));

const names = list('a list of names', name);
const statefulWith: Check = object<NonNullable<Call['statefulWith']>>(
  'an object with `installed` and `options`',
  () => ({
    installed: required(names),
    options: required(names),
  }),
);

const put = object<Put>('an object that says what is put where', () => ({
  on: required(valueRef),
  name: required(name),
  is: required(valueRef),
}));

const call = object<Call>('an object that says what the call does', () => ({
  ruptures: optional(list('a list of rupture points', rupture)),
  returns: optional(valueRef),
  promise: optional(yesOrNo),
  promiseWithoutCallback: optional(yesOrNo),
  mutates: optional(list('a list', mutated)),
  deep: optional(yesOrNo),
  keeps: optional(list('a list', kept)),
  keepsApart: optional(yesOrNo),
  views: optional(list('a list', kept)),
  does: optional(
    list(
      'a list of outside effects',
      oneOf('files', 'network', 'output', 'process', 'timer', 'random', 'clock', 'subprocess'),
    ),
  ),
  stateful: optional(yesOrNo),
  statefulBeyond: optional(wholeNumber),
  statefulWith: optional(statefulWith),
  connects: optional(yesOrNo),
  data: optional(yesOrNo),
  runs: optional(name),
  asksContext: optional(yesOrNo),
  failsLive: optional(yesOrNo),
  finishesLater: optional(yesOrNo),
  shared: optional(shared),
  comesOut: optional(list('a list', kept)),
  hangsOnRequests: optional(record('an object with a number for each name', argumentIndex)),
  comesOutOnce: optional(list('a list', kept)),
  puts: optional(list('a list of what is put on requests', put)),
}));

const member: Check = object<Member>('an object that describes a value', () => ({
  is: optional(valueRef),
  call: optional(call),
  construct: optional(call),
  members: optional(record('an object with a field for each member', member)),
  others: optional(call),
  runBy: optional(name),
  lends: optional(valueRef),
  holdsStored: optional(yesOrNo),
  isKept: optional(yesOrNo),
  calledWith: optional(list('a list', valueRef)),
  left: optional(yesOrNo),
}));

const eventModel = object<EventModel>('an object that says what listeners get', () => ({
  params: optional(list('a list', valueRef)),
  request: optional(yesOrNo),
  once: optional(yesOrNo),
}));

const typeModel = object<TypeModel>('an object that describes a type', () => ({
  extends: optional(valueRef),
  members: required(record('an object with a field for each member', member)),
  call: optional(call),
  construct: optional(call),
  events: optional(record('an object with a field for each event', eventModel)),
  complete: optional(yesOrNo),
  holdsData: optional(yesOrNo),
  holdsStored: optional(yesOrNo),
  resolves: optional(valueRef),
  identity: optional(yesOrNo),
  one: optional(yesOrNo),
  label: optional(argumentIndex),
  others: optional(call),
  othersAre: optional(valueRef),
  computed: optional(call),
  ordered: optional(yesOrNo),
  travels: optional(oneOf('clone', 'bridge')),
  reply: optional(yesOrNo),
  perRequest: optional(yesOrNo),
  keepsForRequest: optional(yesOrNo),
  outlivesRequest: optional(yesOrNo),
}));

const packageModel = object<PackageModel>('an object with "name" and "module"', () => ({
  name: required(packageName),
  module: required(member),
  memberPaths: optional(yesOrNo),
  settingsOf: optional(name),
  wrapsHandlers: optional(yesOrNo),
  renders: optional(yesOrNo),
  setsLater: optional(names),
  putsGiven: optional(names),
  types: optional(record('an object with a field for each type', typeModel)),
}));

const models: Check = (value, spot) => {
  list('a list of package models', packageModel)(value, spot);
  if (!Array.isArray(value)) return;
  const firstOf = new Map<unknown, number>();
  value.forEach((model: unknown, index) => {
    const name = isPlainObject(model) ? model.name : undefined;
    if (typeof name !== 'string') return;
    const before = firstOf.get(name);
    if (before === undefined) firstOf.set(name, index);
    else {
      const message = `${quote(name)} is described by ${spot.at}[${before}] already`;
      complain({ ...spot, at: `${spot.at}[${index}].name` }, message, 'make one model of the two');
    }
  });
};

const CONFIG = object<ConfigFile>('an object', () => ({ models: optional(models) }));

// --- words --------------------------------------------------------------------------------------------------------

function within(at: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${at}[${JSON.stringify(key)}]`;
  return at === '' ? key : `${at}.${key}`;
}

function alternatives(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function quote(word: string): string {
  return `'${word}'`;
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return quote(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' ? 'an object' : String(value);
}

/** Any object will do, also one without a prototype or from a class; lists and functions will not. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
