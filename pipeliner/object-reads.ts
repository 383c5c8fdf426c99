/**
 * Reads:   Pipeline, and which objects change while the app runs.
 * Gives:   for what a part runs, the ops that read such an object.
 */

import { isCall } from '../analyzer/call-graph.js';
import type { Run } from '../analyzer/cut-parts.js';
import { ANY_PROPERTY, type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';

export interface ObjectRead {
  readonly op: OpId;
  /** The same list for all values that hold the same. */
  readonly tokens: readonly TokenId[];
}

const none: readonly ValueId[] = [];
const noReads: readonly ObjectRead[] = [];

function looksAtObjects(kind: number): boolean {
  return kind === Op.load || kind === Op.store || kind === Op.copyProperties || isCall(kind);
}

export class ObjectReads {
  readonly #pipeline: Pipeline;
  readonly #changes: (id: TokenId) => boolean;
  readonly #reach: (tokens: readonly TokenId[]) => readonly TokenId[];
  /** Of values of which not all that they hold counts. */
  readonly #held = new Map<ValueId, readonly TokenId[]>();
  #requestWithin: Uint8Array | null = null;
  #inRequests: readonly TokenId[] | null = null;
  readonly #byFunction = new Map<FunctionId, readonly ObjectRead[]>();
  readonly #mayBeNoApp: (value: ValueId) => boolean;
  /** It may be a request, or an app. */
  readonly #leadsFurther: (value: ValueId) => boolean;
  readonly #mayBeRequest: (value: ValueId) => boolean;
  readonly #mayBeWholeRequest: (value: ValueId) => boolean;
  readonly #mayBePart: (value: ValueId) => boolean;
  readonly #mayBeChanging: (value: ValueId) => boolean;

  /** `reach` gives what can be reached from objects, themselves included, and changes. */
  constructor(
    pipeline: Pipeline,
    changes: (id: TokenId) => boolean,
    reach: (tokens: readonly TokenId[]) => readonly TokenId[],
  ) {
    this.#pipeline = pipeline;
    this.#reach = reach;
    this.#changes = changes;
    const { models, origins } = pipeline;
    const { tokens } = origins;
    this.#mayBeNoApp = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind !== 'external' || models.oneOf(token.shape) === null || changes(id);
    });
    this.#leadsFurther = origins.mayBe((id) => {
      const token = tokens.get(id);
      return token.kind === 'external' && (token.site === everyRequest || models.oneOf(token.shape) !== null);
    });
    this.#mayBeRequest = origins.mayBe((id) => this.#isRequest(id));
    this.#mayBeWholeRequest = origins.mayBe((id) => this.#isWhole(id));
    this.#mayBePart = origins.mayBe((id) => this.#isRequest(id) && !this.#isWhole(id));
    this.#mayBeChanging = origins.mayBe((id) => changes(id));
  }

  each({ fn, segment }: Run, visit: (op: OpId, tokens: readonly TokenId[]) => void): void {
    let reads = this.#byFunction.get(fn);
    const { facts, parts } = this.#pipeline;
    if (reads === undefined) {
      reads = this.#find(fn);
      // Most functions are run by one part, and asked for once.
      if (parts.runners.get(fn)?.length !== 1) this.#byFunction.set(fn, reads);
    }
    for (const { op, tokens } of reads) {
      const at = facts.segmentOf(op);
      if (at >>> 16 <= segment && segment <= (at & 0xffff)) visit(op, tokens);
    }
  }

  #find(fn: FunctionId): readonly ObjectRead[] {
    const { effects, facts } = this.#pipeline;
    let found: ObjectRead[] | null = null;
    const isEntry = effects.isEntry(fn);
    const passedThrough = this.#passedThrough(fn);
    const add = (op: OpId, tokens: readonly TokenId[]): void => {
      if (tokens.length > 0) (found ??= []).push({ op, tokens });
    };
    // For what a function is given its callers answer.
    const look = (op: OpId, value: ValueId): void => {
      if (value === 0 || (!isEntry && effects.isGiven(value, fn))) return;
      // Who is given an app may look at all that hangs on it.
      if (isCall(facts.kind.get(op)) && value !== facts.a.get(op) && this.#isApp(value))
        add(op, this.#reachedFrom(value));
      add(op, facts.kind.get(op) === Op.load ? this.#changing(value) : this.#changingWithin(value));
    };
    for (const op of effects.ops.of(fn)) {
      const kind = facts.kind.get(op);
      if (!looksAtObjects(kind)) continue;
      if (!isEntry && this.#takesFromGiven(op, kind, fn)) add(op, this.#changing(facts.b.get(op)));
      if (kind === Op.load) {
        const to = facts.b.get(op);
        const isPassed = passedThrough.has(to) && !this.#runsGetter(op) && (isEntry || !effects.isGiven(to, fn));
        const held = (value: ValueId): readonly TokenId[] => (isPassed ? this.#itself(value) : this.#changing(value));
        for (const value of this.#takenFromRequest(op)) add(op, held(value));
        if (isPassed) {
          if (isEntry || !effects.isGiven(facts.a.get(op), fn)) add(op, this.#itself(facts.a.get(op)));
          continue;
        }
      }
      this.#eachOperand(op, kind, look);
      if (isCall(kind)) for (const value of this.#boundTo(op)) add(op, this.#changing(value));
      if (this.#hasAll(op)) add(op, this.#changingInRequests());
    }
    // A list that has grown has room for many more.
    return (found as ObjectRead[] | null)?.slice() ?? noReads;
  }

  /** `const has = set.has.bind(set)`: whoever calls it looks at the set. */
  #boundTo(op: OpId): readonly ValueId[] {
    const { origins } = this.#pipeline;
    let found: ValueId[] | null = null;
    for (const id of origins.calleeTokens(op)) {
      const token = origins.tokens.get(id);
      if (token.kind === 'bound') (found ??= []).push(token.receiver, ...token.args);
    }
    return found === null ? none : found.filter((value) => value !== 0);
  }

  /** Calls `look` with the values whose contents the op looks at, or hands on. */
  #eachOperand(op: OpId, kind: number, look: (op: OpId, value: ValueId) => void): void {
    const { facts } = this.#pipeline;
    // Who gets hold of such an object, or puts it into another, is taken to read it; who asks an app for one thing has not looked at the rest.
    if (kind === Op.load) {
      for (const value of [facts.a.get(op), facts.b.get(op)])
        if (!this.#isApp(value) || this.#runsGetter(op)) look(op, value);
      return;
    }
    if (kind === Op.copyProperties || (kind === Op.method && !this.#asksApp(op))) look(op, facts.a.get(op));
    if (kind === Op.copyProperties) return;
    look(op, facts.b.get(op));
    if (!isCall(kind)) return;
    const call = facts.d.get(op);
    const count = facts.callCount.get(call);
    for (let index = 0; index < count; index++) look(op, facts.argument(call, index));
  }

  /** For a setting: no function of the program is called. */
  #asksApp(op: OpId): boolean {
    const { facts, origins } = this.#pipeline;
    return this.#isApp(facts.a.get(op)) && origins.calleesOf(op).length === 0;
  }

  /** Values on the way to others: `context` in `req.context.users.find()`, of which nothing but `users` is looked at. */
  #passedThrough(fn: FunctionId): ReadonlySet<ValueId> {
    const { effects, facts } = this.#pipeline;
    const found = new Set<ValueId>();
    const others = new Set<ValueId>();
    const note = (value: ValueId, isLookedUp: boolean): void => void (isLookedUp ? found : others).add(value);
    for (const op of effects.ops.of(fn)) {
      const kind = facts.kind.get(op);
      const isNamed =
        facts.c.get(op) !== ANY_PROPERTY && (kind === Op.method || (kind === Op.load && facts.d.get(op) !== 1));
      note(facts.a.get(op), isNamed);
      if (kind === Op.store || kind === Op.copyProperties) others.add(facts.b.get(op));
      if (!isCall(kind)) continue;
      if (kind === Op.call) others.add(facts.c.get(op));
      const call = facts.d.get(op);
      for (let index = 0; index < facts.callCount.get(call); index++) others.add(facts.argument(call, index));
    }
    for (const value of found) if (others.has(value) || facts.variables.get(value) !== undefined) found.delete(value);
    return found;
  }

  /** It is given the object, and may look at all of it. */
  #runsGetter(op: OpId): boolean {
    return this.#pipeline.origins.calleesOf(op).length > 0;
  }

  #itself(value: ValueId): readonly TokenId[] {
    if (!this.#mayBeChanging(value)) return none;
    return this.#pipeline.origins.tokensOf(value).filter((id) => this.#changes(id) && !this.#isRequest(id));
  }

  /** `req.app.locals.users`, where the function is given the request: who hands that on does not answer for what its app has, nor for what all
   *  requests inherit. */
  #takesFromGiven(op: OpId, kind: number, fn: FunctionId): boolean {
    const { effects, facts } = this.#pipeline;
    if (kind !== Op.load && !(kind === Op.method && this.#asksApp(op))) return false;
    const [base, to] = [facts.a.get(op), facts.b.get(op)];
    return effects.isGiven(base, fn) && this.#leadsFurther(base) && !this.#isApp(to);
  }

  /** What hangs on it counts where it is taken from it. */
  #isApp(value: ValueId): boolean {
    return !this.#mayBeNoApp(value) && this.#pipeline.origins.tokensOf(value).length > 0;
  }

  /** What is put on a request is read where it is taken from it, not by everybody who has the request: so callers, who hand
   *  on whole requests, do not answer for it. */
  #takenFromRequest(op: OpId): readonly ValueId[] {
    const { facts, origins } = this.#pipeline;
    if (!this.#mayBeRequest(facts.a.get(op))) return none;
    const atom = facts.c.get(op);
    let taken: ValueId[] | null = null;
    for (const id of origins.tokensOf(facts.a.get(op))) {
      const properties = this.#isRequest(id) ? origins.tokens.knownProperties(id) : undefined;
      if (properties === undefined) continue;
      taken ??= [];
      if (atom === ANY_PROPERTY) taken.push(...properties.values());
      else taken.push(properties.get(atom) ?? 0, properties.get(ANY_PROPERTY) ?? 0);
    }
    return taken === null ? none : taken.filter((value) => value !== 0);
  }

  #isRequest(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return (
      token.kind === 'external' && token.site === everyRequest && this.#pipeline.models.oneOf(token.shape) === null
    );
  }

  /** No part of one, such as its parameters. */
  #isWhole(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return this.#isRequest(id) && token.kind === 'external' && !this.#pipeline.models.isData(token.shape);
  }

  /** A call that may look at all that hangs on the request: `res.render(view)`, `JSON.stringify(res.locals)`. */
  #hasAll(op: OpId): boolean {
    const { facts, origins } = this.#pipeline;
    const kind = facts.kind.get(op);
    if (kind === Op.copyProperties) return this.#mayBeWholeRequest(facts.a.get(op));
    if (!isCall(kind)) return false;
    const isRendering = kind === Op.method && facts.atomName(facts.c.get(op)) === 'render';
    if (isRendering && this.#mayBeWholeRequest(facts.a.get(op))) return true;
    if (this.#changingInRequests().length === 0 || origins.calleesOf(op).length > 0) return false;
    const call = facts.d.get(op);
    for (let index = 0; index < facts.callCount.get(call); index++)
      if (this.#holdsRequestWithin(facts.argument(call, index))) return true;
    return false;
  }

  #holdsRequestWithin(value: ValueId): boolean {
    this.#requestWithin ??= this.#findRequestWithin();
    for (const id of this.#pipeline.origins.tokensOf(value)) if (this.#requestWithin[id] === 1) return true;
    return false;
  }

  /** Requests, and objects from which one can be reached: from those that hold one to those that hold them. */
  #findRequestWithin(): Uint8Array {
    const { tokens, tokensOf } = this.#pipeline.origins;
    const within = new Uint8Array(tokens.length);
    for (let id = 1; id < tokens.length; id++) if (this.#isWhole(id)) within[id] = 1;
    for (let changed = true; changed; ) {
      changed = false;
      for (let id = tokens.length - 1; id > 0; id--) {
        if (within[id] === 1 || tokens.get(id).kind !== 'object') continue;
        for (const inner of tokens.knownProperties(id)?.values() ?? none) {
          if (!tokensOf(inner).some((held) => within[held] === 1)) continue;
          within[id] = 1;
          changed = true;
          break;
        }
      }
    }
    return within;
  }

  /** State that anybody puts on a request. */
  #changingInRequests(): readonly TokenId[] {
    if (this.#inRequests === null) {
      const { origins } = this.#pipeline;
      const held: TokenId[] = [];
      for (let id = 1; id < origins.tokens.length; id++) {
        if (!this.#isRequest(id)) continue;
        for (const value of origins.tokens.knownProperties(id)?.values() ?? []) held.push(...origins.tokensOf(value));
      }
      this.#inRequests = this.#reach([...new Set(held)].filter((id) => !this.#isRequest(id)));
    }
    return this.#inRequests;
  }

  /** The same of who looks into it as well: what hangs on a part of a request (`res.locals`) is in that part. */
  #changingWithin(value: ValueId): readonly TokenId[] {
    if (!this.#mayBePart(value)) return this.#changing(value);
    const parts = this.#pipeline.origins.tokensOf(value).filter((id) => this.#isRequest(id) && !this.#isWhole(id));
    const within = this.#reach(parts);
    return within.length === 0 ? this.#changing(value) : [...new Set([...this.#changing(value), ...within])];
  }

  #changing(value: ValueId): readonly TokenId[] {
    const all = this.#pipeline.origins.tokensOf(value);
    if (all.length === 0) return all;
    if (!this.#mayBeRequest(value) && !this.#isOfModule(value)) return this.#reach(all);
    let held = this.#held.get(value);
    if (held === undefined) {
      const tokens = this.#mayBeRequest(value) ? all.filter((id) => !this.#isRequest(id)) : all;
      // Who holds an object holds what is in it; a variable at the top of a module answers for that itself.
      held = this.#isOfModule(value) ? tokens.filter(this.#changes) : this.#reach(tokens);
      if (held.length > 0) this.#held.set(value, held);
    }
    return held;
  }

  #reachedFrom(value: ValueId): readonly TokenId[] {
    return this.#reach(this.#pipeline.origins.tokensOf(value));
  }

  #isOfModule(value: ValueId): boolean {
    const owner = this.#pipeline.facts.variables.ownerOf(value) ?? -1;
    return owner >= 0 && this.#pipeline.facts.fn(owner).parent === -1;
  }
}
