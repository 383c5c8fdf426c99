/**
 * Reads: what parts change, origins of what they call.
 * Gives: the packages that something else than start-up's first turn configures, with the place; and for each part which of these
 *        it uses. Settings of a package are everybody's who uses it, by whatever name.
 *
 *     handlebars.registerHelper('up', fn)          Settings.defaultZone = zone
 *     template({ name })      (made before)        DateTime.now()
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part } from '../analyzer/cut-parts.js';
import { type Engines, findEngines, renders } from '../analyzer/effects/engines.js';
import { whatIs } from '../analyzer/effects/patches.js';
import { ANY_PROPERTY, type FunctionId, NOTHING, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { Effect } from '../analyzer/summarise-effects.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import type { Member } from '../models/types.js';

export interface Configured {
  readonly package: string;
  readonly op: OpId;
}

export class ConfiguredPackages {
  readonly #pipeline: Pipeline;
  readonly #engines: Engines;
  readonly #found = new Map<string, OpId>();
  #keepers: ReadonlySet<string> | null = null;
  readonly #used = new Map<FunctionId, Configured | null>();
  readonly #mayHaveLeft: (value: ValueId) => boolean;
  readonly #lookedAt = new Set<FunctionId>();

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
    const { facts, models, origins, parts } = pipeline;
    this.#mayHaveLeft = origins.mayBe((id) =>
      Object.values(this.#membersOf(id)).some((member) => member?.left === true),
    );
    this.#engines = findEngines(facts, origins, models);
    for (const part of [...parts.list, parts.outsiders]) if (part.id !== 0) this.#look(part);
    this.#lookForUnfinished();
  }

  /** Something else than start-up's first turn does so. */
  has(name: string): boolean {
    return this.#found.has(this.#pipeline.models.settingsOf(name));
  }

  usedBy({ runs }: Part): Configured | null {
    if (this.#found.size === 0) return null;
    for (const { fn } of runs) {
      let used = this.#used.get(fn);
      if (used === undefined) this.#used.set(fn, (used = this.#usedIn(fn)));
      if (used !== null) return used;
    }
    return null;
  }

  #look(part: Part): void {
    const { facts } = this.#pipeline;
    for (const { fn } of part.runs) {
      if (this.#lookedAt.has(fn)) continue;
      this.#lookedAt.add(fn);
      this.#lookForLeft(fn);
    }
    this.#pipeline.parts.eachEffect(part, (kind, _root, _fn, op, _at, value) => {
      if (kind === Effect.mutate || kind === Effect.hand) this.#takeHeld(value, op);
      if (kind === Effect.mutate) this.#takeChanged(value, op);
      else if (kind === Effect.hand) this.#take(this.#modelled(this.#packageOf(value, true)), op);
      else if (kind === Effect.unknown && isCall(facts.kind.get(op)))
        this.#take(this.#modelled(this.#calledOf(op)), op);
      else if (kind === Effect.stateful && isCall(facts.kind.get(op))) this.#take(this.#configuredBy(op), op);
    });
  }

  #lookForUnfinished(): void {
    const { facts, models, origins } = this.#pipeline;
    const { callOp, kind: kinds } = facts;
    for (let index = 0; index < callOp.length; index++) {
      const op = callOp.get(index);
      for (const id of origins.calleeTokens(op)) {
        const shape = this.#shapeOf(id);
        const call = shape === null ? null : models.call(shape, kinds.get(op) === Op.construct);
        if (shape !== null && call?.finishesLater === true) this.#take(this.#ownName(shape), op);
      }
    }
  }

  /** `purifier.removed`: what the last call has left there, whoever called. */
  #lookForLeft(fn: FunctionId): void {
    const { effects, facts, origins } = this.#pipeline;
    for (const op of effects.ops.of(fn)) {
      if (facts.kind.get(op) !== Op.load || !this.#mayHaveLeft(facts.a.get(op))) continue;
      for (const id of origins.tokensOf(facts.a.get(op))) {
        const name = facts.c.get(op);
        const members = this.#membersOf(id);
        const read = name === ANY_PROPERTY ? Object.values(members) : [members[facts.atomName(name)]];
        if (read.some((member) => member?.left === true)) this.#take(this.#ownName(this.#shapeOf(id)), op);
      }
    }
  }

  #membersOf(id: TokenId): { readonly [name: string]: Member | undefined } {
    const shape = this.#shapeOf(id);
    return shape === null || shape.isOfNode ? {} : (shape.type?.members ?? shape.member?.members ?? {});
  }

  /** `schema.parse(data).tags.push(tag)`: what the package may give again. */
  #takeHeld(value: ValueId, op: OpId): void {
    const { tokens, tokensOf } = this.#pipeline.origins;
    if (value === NOTHING || tokens.heldBy.size === 0) return;
    for (const id of tokensOf(value)) {
      const held = tokens.heldBy.get(id);
      if (held === undefined || (held.shared === 'kept' && !this.#keeping().has(held.package))) continue;
      this.#take(this.#pipeline.models.settingsOf(held.package), op);
    }
  }

  /** Packages that were given objects which come out of them again. */
  #keeping(): ReadonlySet<string> {
    if (this.#keepers !== null) return this.#keepers;
    const { facts, models, origins } = this.#pipeline;
    const found = new Set<string>();
    for (let call = 0; call < facts.callOp.length; call++) {
      const op = facts.callOp.get(call);
      for (const id of origins.calleeTokens(op)) {
        const shape = this.#shapeOf(id);
        const model = shape === null ? null : models.call(shape, facts.kind.get(op) === Op.construct);
        const isKept = (index: number): boolean => this.#isLasting(facts.argument(call, index));
        const isOlder = (index: number): boolean => this.#isOlder(facts.argument(call, index), facts.owner.get(op));
        if (model?.comesOut?.some(isKept) || model?.comesOutOnce?.some(isOlder)) found.add(shape?.package ?? '');
      }
    }
    this.#keepers = found;
    return found;
  }

  /** An object, or a function that gives one which it has not made itself. */
  #isLasting(value: ValueId): boolean {
    const { facts, origins } = this.#pipeline;
    return origins.tokensOf(value).some((id) => {
      const fn = origins.tokens.functionOf(id);
      if (fn === null) return true;
      return origins.tokensOf(facts.fn(fn).result).some((given) => {
        const token = origins.tokens.get(given);
        return token.kind !== 'object' || token.fn !== fn;
      });
    });
  }

  /** An object that the function which makes the call has not made for it, or one with such an object in it. */
  #isOlder(value: ValueId, maker: FunctionId, depth = 3): boolean {
    const { origins } = this.#pipeline;
    return origins.tokensOf(value).some((id) => {
      const token = origins.tokens.get(id);
      if (token.kind !== 'object' || token.fn !== maker) return true;
      const within = [...(origins.tokens.knownProperties(id)?.values() ?? [])];
      return depth === 0 ? within.length > 0 : within.some((held) => this.#isOlder(held, maker, depth - 1));
    });
  }

  #takeChanged(value: ValueId, op: OpId): void {
    this.#take(this.#packageOf(value, true), op);
    for (const owner of this.#inheritedFrom(value)) this.#take(owner, op);
  }

  /** What all requests, or all responses, inherit from (`app.response`): Node's those of Express, too. */
  #inheritedFrom(value: ValueId): readonly string[] {
    const { origins } = this.#pipeline;
    for (const id of value === NOTHING ? [] : origins.tokensOf(value)) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external' || token.site === everyRequest || whatIs(token.shape) !== 'exchange') continue;
      return token.shape.isOfNode ? [token.shape.package, 'express'] : [token.shape.package];
    }
    return [];
  }

  #take(name: string | null, op: OpId): void {
    if (name !== null && !this.#found.has(name)) this.#found.set(name, op);
  }

  /** `sanitizeHtml.defaults.allowedTags.push(tag)`: what its model does not list may be, or change, a setting. */
  #calledOf(op: OpId): string | null {
    const { origins, models } = this.#pipeline;
    for (const id of origins.calleeTokens(op)) {
      const shape = this.#shapeOf(id);
      if (shape !== null && models.isExport(shape) && models.isUnknown(shape)) return this.#ownName(shape);
    }
    return null;
  }

  /** Who uses another package stays home anyway; who renders by it uses it by way of the app. */
  #modelled(name: string | null): string | null {
    return name !== null && (this.#pipeline.models.isModelled(name) || this.#engines.isPackage(name)) ? name : null;
  }

  /** `environment.addFilter('up', fn)`: whatever was made by it may be changed as well. */
  #configuredBy(op: OpId): string | null {
    const { facts, origins, models } = this.#pipeline;
    const isNew = facts.kind.get(op) === Op.construct;
    for (const id of origins.calleeTokens(op)) {
      const shape = this.#shapeOf(id);
      const model = shape === null ? null : models.call(shape, isNew);
      if (!model?.stateful || !model.mutates?.includes('this')) continue;
      const receiver = facts.kind.get(op) === Op.method ? facts.a.get(op) : NOTHING;
      return receiver === NOTHING ? this.#ownName(shape) : this.#packageOf(receiver, false);
    }
    return null;
  }

  /** `whole`: of the package's own exports alone, not of what they have made. */
  #packageOf(value: ValueId, whole: boolean): string | null {
    if (value === NOTHING) return null;
    const { origins, models } = this.#pipeline;
    for (const id of origins.tokensOf(value)) {
      const token = origins.tokens.get(id);
      if (token.kind !== 'external' || token.site === everyRequest) continue;
      const { type } = token.shape;
      const isOne = whole || type === null ? models.isExport(token.shape) : type.perRequest !== true;
      if (isOne && this.#ownName(token.shape) !== null) return this.#ownName(token.shape);
    }
    return null;
  }

  #usedIn(fn: FunctionId): Configured | null {
    const { effects, facts, origins, models } = this.#pipeline;
    for (const op of effects.ops.of(fn)) {
      const kind = facts.kind.get(op);
      if (isCall(kind) && renders(op, facts, origins, models)) {
        for (const [name, at] of this.#found) if (this.#engines.isPackage(name)) return { package: name, op: at };
      }
      const holder = kind === Op.method || kind === Op.load ? origins.tokensOf(facts.a.get(op)) : [];
      for (const id of isCall(kind) ? [...origins.calleeTokens(op), ...holder] : holder) {
        const name = this.#ownName(this.#shapeOf(id));
        const at = name === null ? undefined : this.#found.get(name);
        if (name !== null && at !== undefined) return { package: name, op: at };
      }
    }
    return null;
  }

  /** Of the language and of Node each thing has a model of its own. */
  #ownName(shape: Shape | null): string | null {
    if (shape === null || shape.package === '') return null;
    if (shape.isOfNode)
      return this.#pipeline.models.typeThat(shape, ({ perRequest }) => perRequest === true) === null
        ? null
        : shape.package;
    return this.#pipeline.models.settingsOf(shape.package);
  }

  #shapeOf(id: TokenId): Shape | null {
    let token = this.#pipeline.origins.tokens.get(id);
    while (token.kind === 'bound') token = this.#pipeline.origins.tokens.get(token.target);
    return token.kind === 'external' ? token.shape : null;
  }
}

type Shape = Extract<ReturnType<Pipeline['origins']['tokens']['get']>, { readonly kind: 'external' }>['shape'];
