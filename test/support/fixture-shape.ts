/**
 * Reads: the text of `--emit json`.
 * Gives: where it is not of the shape that docs/json.md promises; empty where it is. Keys are promised with their order.
 */
type Shape = (value: unknown, path: string) => readonly string[];

export function jsonProblems(text: string): readonly string[] {
  return program(JSON.parse(text), 'program');
}

const text: Shape = (value, path) => (typeof value === 'string' ? [] : [`${path} is no string`]);
const flag: Shape = (value, path) => (typeof value === 'boolean' ? [] : [`${path} is no boolean`]);
const count: Shape = (value, path) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? [] : [`${path} does not count from 1`];

function oneOf(...words: readonly unknown[]): Shape {
  return (value, path) =>
    words.includes(value) ? [] : [`${path} is ${String(value)}, not one of ${words.join(', ')}`];
}

function orNull(shape: Shape): Shape {
  return (value, path) => (value === null ? [] : shape(value, path));
}

function list(shape: Shape): Shape {
  return (value, path) =>
    Array.isArray(value) ? value.flatMap((item, index) => shape(item, `${path}[${index}]`)) : [`${path} is no list`];
}

function record(shapes: { readonly [key: string]: Shape }): Shape {
  const keys = Object.keys(shapes).join(', ');
  return (value, path) => {
    if (typeof value !== 'object' || value === null) return [`${path} is no object`];
    const has = Object.keys(value).join(', ');
    if (has !== keys) return [`${path} has the keys ${has} instead of ${keys}`];
    return Object.entries(value).flatMap(([key, item]) => shapes[key]?.(item, `${path}.${key}`) ?? []);
  };
}

const loc = record({ line: count, column: count });
const place = record({ module: text, line: count, column: count });
const reason = record({ code: text, message: text, loc: orNull(place), lift: text });

const stream = record({
  type: oneOf('start', 'post'),
  callee: text,
  label: orNull(text),
  inferred: flag,
  loc: place,
  dest: list(text),
  message: list(text),
});

const fluxion = record({
  id: text,
  kind: oneOf('main', 'start', 'post', 'rest'),
  module: text,
  loc,
  tags: list(text),
  context: list(text),
  placement: oneOf('home', 'group', 'replicated'),
  reasons: list(reason),
  streams: list(stream),
});

const variable = record({
  name: text,
  module: text,
  loc,
  class: oneOf('scope', 'stream', 'share'),
  tag: orNull(text),
  fluxions: list(text),
  writes: list(place),
  reads: list(place),
});

const program = record({
  version: oneOf(1),
  entry: text,
  modules: list(text),
  fluxions: list(fluxion),
  variables: list(variable),
  unresolved: list(record({ callee: text, loc: place, code: text, reason: text, lift: text })),
});
