/**
 * Fields of classes of which the analysis cannot tell what they hold, and the running app can; and whether what it said of them
 * holds for good.
 *
 * Reads:   Pipeline, functions that may run when start-up is over.
 * Gives:   by class the fields that may hold one of several things; of fields those that code which runs later may change.
 */
import { isCall } from '../analyzer/call-graph.js';
import { ANY_PROPERTY, type AtomId, type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { UNKNOWN } from '../analyzer/tokens.js';

export interface OpenClass {
  readonly maker: FunctionId;
  readonly fields: readonly string[];
}

/** All fields. */
const ALL = -1;

/** Whether they change is a question for when more is known: what may do so now may be a call that the app resolves. */
export function findOpenFields({ facts, origins }: Pipeline, later: ReadonlySet<FunctionId>): readonly OpenClass[] {
  const fields = new Map<FunctionId, Set<string>>();
  const isUnclear = (value: ValueId): boolean => {
    const tokens = origins.tokensOf(value);
    return tokens.includes(UNKNOWN) || tokens.filter((id) => origins.tokens.get(id).kind === 'object').length > 1;
  };
  for (let id = 1; id < origins.tokens.length; id++) {
    const maker = origins.classOf(id);
    if (maker === undefined || later.has(maker) || facts.isOfPackage(maker)) continue;
    for (const [atom, value] of origins.tokens.knownProperties(id) ?? []) {
      if (atom === ANY_PROPERTY || !isUnclear(value)) continue;
      const known = fields.get(maker);
      if (known === undefined) fields.set(maker, new Set([facts.atomName(atom)]));
      else known.add(facts.atomName(atom));
    }
  }
  return [...fields].map(([maker, names]) => ({ maker, fields: [...names].sort() }));
}

export class FieldChanges {
  readonly #finder: Finder;
  readonly #later: ReadonlySet<FunctionId>;
  readonly #atomOf: (name: string) => AtomId | undefined;

  constructor(pipeline: Pipeline, later: ReadonlySet<FunctionId>) {
    this.#finder = new Finder(pipeline, later);
    this.#later = later;
    this.#atomOf = (name) => pipeline.facts.knownAtom(name);
    this.#finder.look();
  }

  /** So does one of objects that are made later. */
  changes(maker: FunctionId, field: string): boolean {
    return this.#later.has(maker) || this.#finder.changes(maker, this.#atomOf(field) ?? ANY_PROPERTY);
  }
}

class Finder {
  readonly #pipeline: Pipeline;
  readonly #later: ReadonlySet<FunctionId>;
  readonly #receivers: ReadonlySet<ValueId>;
  /** By class, fields that change. */
  readonly #changing = new Map<FunctionId, Set<AtomId | typeof ALL>>();
  /** Of objects that may be of any class. */
  readonly #anywhere = new Set<AtomId | typeof ALL>();

  constructor(pipeline: Pipeline, later: ReadonlySet<FunctionId>) {
    this.#pipeline = pipeline;
    this.#later = later;
    this.#receivers = new Set(pipeline.facts.functions.map(({ receiver }) => receiver));
  }

  look(): void {
    const { facts, origins } = this.#pipeline;
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      const kind = kinds.get(op);
      if (!origins.mayRun(facts.owner.get(op))) continue;
      // A copy of an object has what the object has, whoever reads it.
      if (kind === Op.copyProperties) this.#note(facts.a.get(op), ALL);
      if (!this.#later.has(facts.fn(facts.owner.get(op)).origin)) continue;
      if (kind === Op.store) this.#note(facts.a.get(op), facts.c.get(op) === ANY_PROPERTY ? ALL : facts.c.get(op));
      else if (kind === Op.copyProperties) this.#note(facts.b.get(op), ALL);
      else if (isCall(kind)) this.#noteCall(op);
    }
  }

  /** Code that is not the program's may change what it is given. */
  #noteCall(op: OpId): void {
    const { facts, origins } = this.#pipeline;
    const callees = origins.calleeTokens(op);
    const isOwn = callees.length > 0 && callees.every((id) => origins.tokens.get(id).kind === 'function');
    if (isOwn) return;
    const call = facts.d.get(op);
    for (let index = 0; index < facts.callCount.get(call); index++) this.#noteGiven(facts.argument(call, index));
    if (facts.kind.get(op) === Op.method && callees.length > 0) this.#noteGiven(facts.a.get(op));
  }

  #noteGiven(value: ValueId): void {
    const { origins } = this.#pipeline;
    for (const id of origins.tokensOf(value)) {
      const maker = origins.classOf(id);
      if (maker !== undefined) this.#add(maker, ALL);
    }
  }

  #note(base: ValueId, atom: AtomId | typeof ALL): void {
    const { origins } = this.#pipeline;
    const tokens = origins.tokensOf(base);
    // `this` of a method that nobody is seen to call.
    if (tokens.includes(UNKNOWN) || (tokens.length === 0 && this.#receivers.has(base))) this.#anywhere.add(atom);
    for (const id of tokens) {
      const maker = origins.classOf(id);
      if (maker !== undefined) this.#add(maker, atom);
    }
  }

  #add(maker: FunctionId, atom: AtomId | typeof ALL): void {
    const known = this.#changing.get(maker);
    if (known === undefined) this.#changing.set(maker, new Set([atom]));
    else known.add(atom);
  }

  changes(maker: FunctionId, atom: AtomId): boolean {
    const own = this.#changing.get(maker);
    return this.#anywhere.has(ALL) || this.#anywhere.has(atom) || own?.has(ALL) === true || own?.has(atom) === true;
  }
}
