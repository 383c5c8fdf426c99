/**
 * Reads: what start-up gives to packages that speak over the network: listeners, hooks, options.
 * Gives: those of these packages that hold a function of the app which changes something, or looks at what changes; with its place.
 *
 *     pool.on('acquire', () => { used += 1; })        schema.post('save', () => { saved += 1; })
 *
 *     schema.pre('find', function () { this.where({ tenant }); })
 *
 * Such a function is called where the package is used. On another loop it would change what nobody there looks at, or look at what nobody changes there.
 */
import { isCall } from '../analyzer/call-graph.js';
import { type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { Effect } from '../analyzer/summarise-effects.js';
import type { TokenId } from '../analyzer/tokens.js';
import type { Holds } from '../flx/program.js';
import type { State } from './cells.js';
import type { Flows } from './flows.js';

/** What is told of the state of a connection, home's own connection tells home as well. */
const LIFE =
  /^(connect|connecting|connected|ready|open|error|warning|close|end|wait|disconnect|disconnecting|disconnected|reconnecting|reconnected|reconnectFailed|fullsetup|all|select)$/;
const CONNECTIONS: ReadonlySet<string> = new Set(['mongoose.Connection', 'redis.Client']);
const LISTENS = /^(on|once|addListener|prependListener|prependOnceListener)$/;
/** Options in options. */
const MOST_DEEP = 4;

export function findHeld(
  pipeline: Pipeline,
  flows: Flows,
  state: State,
  packages: ReadonlySet<string>,
): readonly Holds[] {
  if (packages.size === 0) return [];
  const changing = new Set<ValueId>();
  for (const { cells } of state.groups)
    for (const cell of cells) if (cell.variable !== null && cell.isChangedLater) changing.add(cell.variable);
  const { facts, source } = pipeline;
  const serving = new Set<FunctionId>();
  for (const part of pipeline.parts.list)
    if (flows.isInRequest(part.id)) for (const { fn } of part.runs) serving.add(fn);
  const held = new Map<string, Holds>();
  for (let call = 0; call < facts.callOp.length; call++) {
    const op = facts.callOp.get(call);
    if (!isCall(facts.kind.get(op)) || serving.has(facts.owner.get(op)) || tellsOfLife(pipeline, op)) continue;
    const name = packageOf(pipeline, op, packages);
    if (name === null || held.has(name)) continue;
    const unsettled = givenTo(pipeline, op).find((fn) => isUnsettled(pipeline, fn, changing));
    if (unsettled !== undefined) held.set(name, { package: name, at: source.place(op) });
  }
  return [...held.values()];
}

function tellsOfLife(pipeline: Pipeline, op: OpId): boolean {
  const { facts, origins, ruptures } = pipeline;
  if (facts.kind.get(op) !== Op.method || !LISTENS.test(facts.atomName(facts.c.get(op)))) return false;
  const isConnection = (id: TokenId): boolean => {
    const token = origins.tokens.get(id);
    return token.kind === 'external' && CONNECTIONS.has(token.shape.typeName ?? '');
  };
  const emitters = origins.tokensOf(facts.a.get(op));
  const labels = (ruptures.byOp.get(op) ?? []).map(({ label }) => label);
  return (
    emitters.length > 0 && emitters.every(isConnection) && labels.length > 0 && labels.every((each) => LIFE.test(each))
  );
}

/** The package whose function, or whose object's method, is called. */
function packageOf({ facts, origins }: Pipeline, op: OpId, packages: ReadonlySet<string>): string | null {
  const receivers = facts.kind.get(op) === Op.method ? origins.tokensOf(facts.a.get(op)) : [];
  for (const id of [...origins.calleeTokens(op), ...receivers]) {
    let token = origins.tokens.get(id);
    while (token.kind === 'bound') token = origins.tokens.get(token.target);
    if (token.kind === 'external' && packages.has(token.shape.package)) return token.shape.package;
  }
  return null;
}

function givenTo({ facts, origins }: Pipeline, op: OpId): readonly FunctionId[] {
  const found = new Set<FunctionId>();
  const seen = new Set<TokenId>();
  const look = (value: ValueId, depth: number): void => {
    for (const id of origins.tokensOf(value)) {
      const fn = origins.tokens.functionOf(id);
      if (fn !== null) found.add(fn);
      if (seen.has(id) || depth === MOST_DEEP || origins.tokens.get(id).kind !== 'object') continue;
      seen.add(id);
      for (const each of origins.tokens.knownProperties(id)?.values() ?? []) look(each, depth + 1);
    }
  };
  const call = facts.d.get(op);
  for (let index = 0; index < facts.callCount.get(call); index++) look(facts.argument(call, index), 0);
  return [...found];
}

/** It, or what it runs, changes what was there before, or looks at what changes. */
function isUnsettled(pipeline: Pipeline, fn: FunctionId, changing: ReadonlySet<ValueId>): boolean {
  const { effects, facts, graph } = pipeline;
  const seen = new Set<FunctionId>([fn]);
  for (const each of seen) {
    for (let inner = each + 1; inner < facts.fn(each).functionEnd; inner++) seen.add(inner);
    for (const op of effects.ops.of(each))
      if (isCall(facts.kind.get(op))) for (const callee of effects.executes(op)) seen.add(callee);
    let isFound = false;
    effects.each(each, (kind, root, op) => {
      if (kind === Effect.stateful || kind === Effect.opaque) isFound = true;
      else if (kind === Effect.unknown) isFound ||= !isGiven(pipeline, op, each);
      else if (root >= 0 && effects.roots.isVariable(root)) {
        const variable = effects.roots.of(root);
        isFound ||=
          kind === Effect.read
            ? changing.has(graph.aliases.get(variable) ?? variable)
            : !isOwn(pipeline, variable, seen);
      }
    });
    if (isFound) return true;
  }
  return false;
}

/** What the package has given it may be called: the document, `next`. */
function isGiven({ effects, facts }: Pipeline, op: OpId, fn: FunctionId): boolean {
  return isCall(facts.kind.get(op)) && effects.isGiven(facts.a.get(op), fn);
}

function isOwn({ facts }: Pipeline, variable: ValueId, functions: ReadonlySet<FunctionId>): boolean {
  return functions.has(facts.variables.ownerOf(variable) ?? -1);
}
