/**
 * Reads: a FluxionProgram.
 * Gives: its machine form, which docs/json.md describes. Keys have one order and nothing depends on the machine, so
 *        the same program gives the same bytes.
 *
 * Objects are built key by key instead of passed on: what is added to the program's types some day does not leak into
 * a form that others rely on.
 */
import type {
  Fluxion,
  Loc,
  ModuleId,
  Place,
  Reason,
  ShownProgram,
  StateVariable,
  StreamFact,
  Unresolved,
} from '../program.js';

export function printJson(program: ShownProgram, more: Readonly<Record<string, object>> = {}): string {
  return [...jsonPieces(program, more)].join('');
}

/**
 * The same in pieces of about a line, so that nobody needs all of it at once. Each fluxion, variable and unresolved point has
 * a line of its own: laid out over many lines, as `jsonText` does, most of a large program's JSON would be
 * indentation.
 */
export function* jsonPieces(
  program: ShownProgram,
  more: Readonly<Record<string, object>> = {},
): Generator<string, void> {
  yield `{\n"version": ${program.version},\n"entry": ${JSON.stringify(program.entry)}`;
  yield `,\n"modules": ${JSON.stringify(listModules(program))}`;
  yield* listPieces('fluxions', program.fluxions, fluxionJson);
  yield* listPieces('variables', program.variables, variableJson);
  yield* listPieces('unresolved', program.unresolved, unresolvedJson);
  for (const [key, value] of Object.entries(more)) yield `,\n${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  yield '\n}\n';
}

function* listPieces<Item>(
  key: string,
  items: readonly Item[],
  toJson: (item: Item) => object,
): Generator<string, void> {
  yield `,\n"${key}": [`;
  let separator = '\n';
  for (const item of items) {
    yield separator + JSON.stringify(toJson(item));
    separator = ',\n';
  }
  yield items.length === 0 ? ']' : '\n]';
}

export function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The entry is a module of the app, whether the program lists it or leaves it to `main`. */
function listModules(program: ShownProgram): readonly ModuleId[] {
  const listed = program.modules.map((module) => module.id);
  return listed.includes(program.entry) ? listed : [program.entry, ...listed];
}

function fluxionJson(fluxion: Fluxion) {
  return {
    id: fluxion.id,
    kind: fluxion.kind,
    module: fluxion.at.module,
    loc: locJson(fluxion.at),
    tags: fluxion.tags,
    context: fluxion.context,
    placement: fluxion.placement,
    reasons: fluxion.reasons.map(reasonJson),
    streams: fluxion.streams.map(streamJson),
  };
}

function streamJson(stream: StreamFact) {
  return {
    type: stream.type,
    callee: stream.callee,
    label: stream.label,
    inferred: stream.inferred,
    loc: placeJson(stream.loc),
    dest: stream.dest,
    message: stream.message,
  };
}

export function variableJson(variable: StateVariable) {
  return {
    name: variable.name,
    module: variable.module,
    loc: locJson(variable.loc),
    class: variable.class,
    tag: variable.tag,
    fluxions: variable.fluxions,
    writes: variable.writes.map(placeJson),
    reads: variable.reads.map(placeJson),
  };
}

export function reasonJson(reason: Reason) {
  return {
    code: reason.code,
    message: reason.message,
    loc: reason.loc === null ? null : placeJson(reason.loc),
    lift: reason.lift,
  };
}

export function unresolvedJson(unresolved: Unresolved) {
  return {
    callee: unresolved.callee,
    loc: placeJson(unresolved.loc),
    code: unresolved.code,
    reason: unresolved.reason,
    lift: unresolved.lift,
  };
}

export function placeJson(place: Place) {
  return { module: place.module, line: place.line, column: place.column };
}

function locJson(loc: Loc) {
  return { line: loc.line, column: loc.column };
}
