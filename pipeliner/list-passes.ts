/**
 * Reads: parts, origins and effects of what they run.
 * Gives: where each part passes its request on by `next`, or by calling an app or a router, itself or through what it calls, and what
 *        the same function does besides that somebody could notice. Whether that comes before or behind, the emitter looks up in the source.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part } from '../analyzer/cut-parts.js';
import { ANY_PROPERTY, type FunctionId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { type TokenId, UNKNOWN } from '../analyzer/tokens.js';
import type { ModuleId, Passing, Span } from '../flx/program.js';

export interface PassesOfPart {
  readonly passing: readonly Passing[];
  /** `next` is given to code that nobody knows, which may call it at any time. */
  readonly isUnclear: boolean;
}

export class PassesOfParts {
  readonly #pipeline: Pipeline;
  /** Ops that call `next` itself, or an app, by function. */
  readonly #direct = new Map<FunctionId, Set<OpId>>();
  readonly #noticed = new Map<FunctionId, readonly OpId[]>();
  readonly #leaking = new Map<FunctionId, readonly OpId[]>();
  /** Arguments that are called later, with nothing below them on the stack. */
  readonly #callbacks = new Set<string>();

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
    const { facts } = pipeline;
    for (let call = 0; call < facts.callOp.length; call++) {
      const op = facts.callOp.get(call);
      if (!this.#calleesOf(op).some((id) => this.#isNext(id) || this.#isApp(id))) continue;
      const owner = facts.owner.get(op);
      const known = this.#direct.get(owner);
      if (known === undefined) this.#direct.set(owner, new Set([op]));
      else known.add(op);
    }
    for (const { op, rupture, argument } of pipeline.origins.callbacks) {
      if (rupture.kind === 'post') this.#callbacks.add(`${op} ${argument}`);
    }
  }

  of(part: Part): PassesOfPart {
    const { facts } = this.#pipeline;
    const functions = new Set(part.runs.map(({ fn }) => fn));
    const passing = new Map<FunctionId, Set<OpId>>();
    let isUnclear = false;
    for (const fn of functions) {
      const leaking = this.#leakingIn(fn);
      const calls = leaking.filter((op) => isCall(facts.kind.get(op)));
      isUnclear ||= leaking.length > 0;
      const direct = [...(this.#direct.get(fn) ?? []), ...calls];
      if (direct.length > 0) passing.set(fn, new Set(direct));
    }
    this.#addCallers(passing, functions);
    const list = [...passing].map(([fn, calls]) => ({
      module: facts.modules[facts.fn(fn).module]?.id ?? '',
      calls: [...calls].map((op) => this.spanOf(op)),
      noticed: this.#noticedIn(fn).map((op) => this.spanOf(op)),
    }));
    return { passing: list, isUnclear };
  }

  /** Calls by which the part comes to this function, and to these ops of it. */
  waysTo(
    fn: FunctionId,
    ops: readonly OpId[],
    part: Part,
  ): readonly { readonly module: ModuleId; readonly call: Span }[] {
    const { facts } = this.#pipeline;
    const ways = new Map([[fn, new Set(ops)]]);
    this.#addCallers(ways, new Set(part.runs.map((run) => run.fn)));
    return [...ways].flatMap(([owner, calls]) => {
      const { id } = facts.moduleOf(owner);
      return [...calls].map((op) => ({ module: id, call: this.spanOf(op) }));
    });
  }

  /** Beside the ops of some functions, those that call these. */
  #addCallers(ops: Map<FunctionId, Set<OpId>>, functions: ReadonlySet<FunctionId>): void {
    const { facts, effects } = this.#pipeline;
    for (let changed = ops.size > 0; changed; ) {
      changed = false;
      for (const fn of functions) {
        for (const op of effects.ops.of(fn)) {
          if (ops.get(fn)?.has(op) === true || !isCall(facts.kind.get(op))) continue;
          if (!effects.executes(op).some((callee) => ops.has(callee))) continue;
          ops.set(fn, (ops.get(fn) ?? new Set()).add(op));
          changed = true;
        }
      }
    }
  }

  #calleesOf(op: OpId): readonly TokenId[] {
    return this.#pipeline.origins.calleeTokens(op);
  }

  #isNext(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    if (token.kind === 'bound') return this.#isNext(token.target);
    return token.kind === 'external' && token.shape.typeName === NEXT;
  }

  /** Who calls an app with a request has it pass it on. */
  #isApp(id: TokenId): boolean {
    const token = this.#pipeline.origins.tokens.get(id);
    return token.kind === 'external' && APPS.has(token.shape.typeName ?? '');
  }

  spanOf(op: OpId): Span {
    const { facts } = this.#pipeline;
    if (!isCall(facts.kind.get(op))) return { start: facts.position.get(op), end: null };
    const call = facts.d.get(op);
    return { start: facts.calleeStart.get(call), end: facts.callEnd.get(call) };
  }

  // --- next as a value --------------------------------------------------------------------------------------------------

  /** By these somebody unknown has it. */
  #leakingIn(fn: FunctionId): readonly OpId[] {
    let leaking = this.#leaking.get(fn);
    if (leaking === undefined)
      this.#leaking.set(fn, (leaking = [...this.#pipeline.effects.ops.of(fn)].filter((op) => this.#leaksBy(op))));
    return leaking;
  }

  #leaksBy(op: OpId): boolean {
    const { facts } = this.#pipeline;
    const kind = facts.kind.get(op);
    if (isCall(kind)) return this.#leaksByCall(op);
    return kind === Op.store && this.#hasNext(facts.b.get(op)) && !this.#isOwnObject(facts.a.get(op));
  }

  #leaksByCall(op: OpId): boolean {
    const { facts, origins } = this.#pipeline;
    const call = facts.d.get(op);
    const count = facts.callCount.get(call);
    for (let index = 0; index < count; index++) {
      const value = facts.argument(call, index);
      if (!this.#hasNext(value)) continue;
      const isOwn = origins.calleesOf(op).length > 0;
      const isKnown = this.#calleesOf(op).every((id) => origins.tokens.functionOf(id) !== null);
      if (!(isOwn && isKnown) && !this.#callbacks.has(`${op} ${index}`)) return true;
    }
    return false;
  }

  /** The value is `next`, or a list with it in it. */
  #hasNext(value: ValueId): boolean {
    const { origins } = this.#pipeline;
    return origins.tokensOf(value).some((id) => {
      if (this.#isNext(id)) return true;
      const token = origins.tokens.get(id);
      if (token.kind !== 'object' || (token.type !== 'Array' && token.type !== 'Arguments')) return false;
      const items = origins.tokens.knownProperties(id)?.get(ANY_PROPERTY);
      return items !== undefined && origins.tokensOf(items).some((item) => this.#isNext(item));
    });
  }

  #isOwnObject(value: ValueId): boolean {
    const { origins } = this.#pipeline;
    return origins.tokensOf(value).every((id) => origins.tokens.get(id).kind === 'object');
  }

  // --- what could be noticed ---------------------------------------------------------------------------------------------

  #noticedIn(fn: FunctionId): readonly OpId[] {
    const known = this.#noticed.get(fn);
    if (known !== undefined) return known;
    const { facts, effects } = this.#pipeline;
    // Of functions that call each other in a circle nothing is shown.
    this.#noticed.set(fn, [facts.fn(fn).opStart]);
    const found = new Set<OpId>();
    effects.each(fn, (kind, _root, _op, at) => {
      if (kind !== READ) found.add(at);
    });
    for (const op of effects.ops.of(fn)) if (this.#isNoticed(op, fn)) found.add(op);
    const list = [...found];
    this.#noticed.set(fn, list);
    return list;
  }

  #isNoticed(op: OpId, fn: FunctionId): boolean {
    const { facts } = this.#pipeline;
    switch (facts.kind.get(op)) {
      case Op.call:
      case Op.method:
      case Op.construct:
        return this.#isCallNoticed(op);
      case Op.load:
        return this.#isOutside(facts.a.get(op), fn);
      case Op.store:
        return facts.d.get(op) !== 1;
      case Op.write:
        return facts.variables.ownerOf(facts.a.get(op)) !== fn;
      case Op.copyProperties:
      case Op.opaque:
        return true;
      default:
        return false;
    }
  }

  #isCallNoticed(op: OpId): boolean {
    const { effects, facts, models, origins } = this.#pipeline;
    if (effects.executes(op).some((callee) => this.#noticedIn(callee).length > 0)) return true;
    const isNew = facts.kind.get(op) === Op.construct;
    return this.#calleesOf(op).some((id) => {
      const token = origins.tokens.get(id);
      if (token.kind === 'function' || token.kind === 'object') return false;
      if (token.kind !== 'external') return true;
      const call = models.call(token.shape, isNew);
      return call === null || (call.does ?? []).length > 0 || (call.mutates ?? []).length > 0 || call.stateful === true;
    });
  }

  /** Others may have it in hands: a request, or what hangs on one. */
  #isOutside(value: ValueId, fn: FunctionId): boolean {
    const { origins } = this.#pipeline;
    return origins.tokensOf(value).some((id) => {
      if (id === UNKNOWN) return true;
      const token = origins.tokens.get(id);
      if (token.kind === 'external') return token.site !== -1 || (token.shape.typeName ?? null) !== null;
      return token.kind === 'object' && token.type !== 'Promise' && token.fn !== fn;
    });
  }
}

const NEXT = 'express.Next';
const APPS: ReadonlySet<string> = new Set(['express.Application', 'express.Router']);
const READ = 0;
