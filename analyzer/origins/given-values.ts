/**
 * What a modelled call gives and keeps, in tokens: containers, promises, bound functions, values of modelled types.
 *
 * Reads:   models, facts.
 * Gives:   to `TokenFlow`: what results and parameters of callbacks hold.
 */
import type { Call, ValueRef } from '../../models/types.js';
import { ANY_PROPERTY, type Facts, NOTHING, Op, type OpId, type ValueId } from '../facts.js';
import { type Models, type Ref, registersNothing, type Shape } from '../models.js';
import { everyRequest, type TokenId, type TokenTable, UNKNOWN } from '../tokens.js';
import type { Properties } from './properties.js';
import type { TakenApart } from './taken-apart.js';
import { isContainer, type TokenFlow } from './token-flow.js';
import { type CallView, type Use, viewWith } from './uses.js';

export class GivenValues {
  readonly #flow: TokenFlow;
  readonly #properties: Properties;
  readonly #facts: Facts;
  readonly #models: Models;
  readonly #tokens: TokenTable;
  readonly #takenApart: TakenApart;
  /** While the parameters of a callback are given. */
  givesAnew = false;
  /** And while these are of one that is called again and again: each time it is another one. */
  givesAgain = false;
  /** While the result of a call is given: what it makes remembers. */
  #givesStateful = false;

  constructor(flow: TokenFlow, properties: Properties, takenApart: TakenApart) {
    this.#flow = flow;
    this.#takenApart = takenApart;
    this.#properties = properties;
    this.#facts = flow.facts;
    this.#models = flow.models;
    this.#tokens = flow.tokens;
  }

  /** A value that holds what a model says that a parameter or result is. */
  refValue(ref: ValueRef, view: CallView): ValueId {
    const value = this.#facts.newValue();
    this.#give(ref, value, view);
    return value;
  }

  #give(text: ValueRef, to: ValueId, view: CallView): void {
    for (const ref of this.#models.refs(text)) if (!hasArgument(view, ref.without)) this.#giveOne(ref, to, view);
  }

  #giveOne(ref: Ref, to: ValueId, view: CallView): void {
    switch (ref.kind) {
      case 'fresh':
        return this.#note(to, view.op);
      case 'data':
        this.#flow.addData(to, view.op);
        return;
      case 'this':
        return this.#flow.edge(view.receiver, to);
      case 'unknown':
        this.#flow.add(to, UNKNOWN);
        // Whatever else it is, it may be what was given (`schema.parse(list)`).
        for (const arg of view.args) this.#flow.use(arg, { kind: 'pass', to });
        return;
      case 'contents':
        // `query.then(fn)`: what it resolves to, as `await` has it.
        if (settling.test(this.#methodName(view.op))) this.#flow.use(view.receiver, { kind: 'await', to, op: view.op });
        return this.#flow.use(view.receiver, {
          kind: 'load',
          atom: ANY_PROPERTY,
          to,
          receiver: NOTHING,
          op: view.op,
          values: this.#methodName(view.op) === 'get',
        });
      case 'copy':
        return this.#container(view.receiver, to, view);
      case 'iterator':
        return this.#container(view.receiver, to, view, false, 'Iterator');
      case 'step':
        return this.#giveStep(to, view);
      case 'argument':
        return this.#flow.edge(view.args[ref.index] ?? NOTHING, to);
      case 'contentsOf':
        return this.#flow.use(view.args[ref.index] ?? NOTHING, {
          kind: 'load',
          atom: ANY_PROPERTY,
          to,
          receiver: NOTHING,
          op: view.op,
        });
      case 'within':
        return this.#flow.edge(this.#within(view.args[ref.index] ?? NOTHING, view.op), to);
      case 'copyOf':
        // Of a list of arguments each may be an item itself (`[].concat(item)`, `Array.of(item)`).
        if (ref.index < 0) for (const arg of view.args) this.#container(arg, to, view, true);
        else this.#container(view.args[ref.index] ?? NOTHING, to, view);
        return;
      case 'formed': {
        const given = view.args[ref.index] ?? NOTHING;
        const made = this.#facts.newValue();
        this.#flow.edge(made, to);
        this.#flow.edge(made, this.#flow.property(this.#flow.addData(to, view.op), ANY_PROPERTY));
        this.#flow.edge(given, to);
        for (const by of [view.receiver, ...view.args])
          if (by !== given) this.#flow.use(by, { kind: 'formedBy', to: made, seen: new Set() });
        return;
      }
      case 'result':
        return this.#flow.use(view.args[ref.index] ?? NOTHING, { kind: 'inPlace', params: [], call: view, result: to });
      // What the package makes of a class that it is given.
      case 'instance':
        return this.#flow.use(view.args[ref.index] ?? NOTHING, {
          kind: 'inPlace',
          params: [],
          call: view,
          result: to,
          isMade: true,
        });
      case 'results': {
        const items = this.#facts.newValue();
        this.#flow.use(view.args[ref.index] ?? NOTHING, { kind: 'inPlace', params: [], call: view, result: items });
        const token = this.#flow.madeAt(view.op, 'Array');
        this.#flow.edge(items, this.#flow.property(token, ANY_PROPERTY));
        if (flattening.test(this.#methodName(view.op)))
          this.#flow.edge(this.#flow.contents(items, view.op), this.#flow.property(token, ANY_PROPERTY));
        this.#flow.add(to, token);
        return;
      }
      case 'bound':
      case 'promisified':
        return this.#flow.use(view.args[ref.index] ?? NOTHING, {
          kind: 'bind',
          view: viewWith(view, { to }),
          promisified: ref.kind === 'promisified',
          stateful: this.#givesStateful,
        });
      case 'type':
        return this.#giveType(ref.name, to, view);
      case 'listOf': {
        const token = this.#flow.madeAt(view.op, 'Array');
        this.#giveType(ref.name, this.#flow.property(token, ANY_PROPERTY), view);
        this.#flow.add(to, token);
        return;
      }
    }
  }

  #giveStep(to: ValueId, { op, receiver }: CallView): void {
    const step = this.#flow.madeAt(op, 'Object');
    const value = this.#flow.property(step, this.#facts.atom('value'));
    this.#flow.use(receiver, { kind: 'load', atom: ANY_PROPERTY, to: value, receiver: NOTHING, op });
    this.#flow.add(to, step);
  }

  #giveType(name: string, to: ValueId, view: CallView): void {
    if (isContainer(name)) {
      const token = this.#flow.madeAt(view.op, name);
      this.#note(this.#flow.property(token, ANY_PROPERTY), view.op, true);
      this.#flow.add(to, token);
      return;
    }
    const shape = this.#models.type(name);
    if (shape === null) this.#flow.add(to, UNKNOWN);
    else
      this.#flow.addShape(
        to,
        shape,
        this.givesAnew || this.#isOfRequest(shape) ? everyRequest : (view.site ?? view.op),
      );
  }

  #note(value: ValueId, op: OpId, isItem = false): void {
    if (!this.givesAgain) this.#takenApart.note(value, op, isItem);
  }

  /** One request goes through many handlers: what one puts on `req` another finds there, so there is one for all. */
  #isOfRequest(shape: Shape): boolean {
    return this.#models.typeThat(shape, (type) => type.perRequest === true) !== null;
  }

  /** A new container made by the call, that holds what `from` holds. */
  #container(from: ValueId, to: ValueId, view: CallView, isListed = false, type: string | null = null): void {
    const name = this.#methodName(view.op);
    const token = this.#flow.madeAt(view.op, type ?? (byKey.test(name) ? 'Object' : 'Array'));
    let into = this.#flow.property(token, ANY_PROPERTY);
    // A class may extend Map, whose iterator gives entries.
    if (name === 'entries' || name === '@@iterator') {
      const entry = this.#properties.entryOf(this.#flow.madeAt(view.op, 'Set'));
      const within = this.#flow.property(entry, ANY_PROPERTY);
      this.#flow.add(into, entry);
      if (name === 'entries') into = within;
      else this.#flow.use(from, { kind: 'load', atom: ANY_PROPERTY, to: within, receiver: NOTHING, op: view.op });
    }
    if (type === 'Iterator') this.#takenApart.note(into, view.op, true);
    this.#flow.use(from, { kind: 'load', atom: ANY_PROPERTY, to: into, receiver: NOTHING, op: view.op });
    // `Array.from(rows)` goes through them.
    if (name === 'from')
      this.#flow.use(from, { kind: 'load', atom: ANY_PROPERTY, to: into, receiver: from, op: view.op, items: true });
    if (isListed) this.#flow.edge(from, into);
    if (flattening.test(name)) this.#flow.edge(this.#flow.contents(into, view.op), into);
    if (nesting.test(name)) {
      const group = this.#flow.madeAt(view.op, name === 'allSettled' ? 'Object' : 'Array');
      this.#flow.edge(into, this.#flow.property(group, ANY_PROPERTY));
      this.#flow.add(into, group);
    }
    this.#flow.add(to, token);
  }

  #methodName(op: OpId): string {
    return this.#facts.kind.get(op) === Op.method ? this.#facts.atomName(this.#facts.c.get(op)) : '';
  }

  /** An object of the program, or something in a list of it, comes back from code that nobody knows. */
  pass(id: TokenId, to: ValueId): void {
    const token = this.#tokens.get(id);
    if (token.kind !== 'object') return;
    this.#flow.add(to, id);
    if (isContainer(token.type)) this.#flow.edge(this.#flow.property(id, ANY_PROPERTY), to);
  }

  /** What functions give that such a thing holds, however deep: `z.string().transform(fn)`. */
  formedBy(id: TokenId, use: Extract<Use, { kind: 'formedBy' }>): void {
    if (use.seen.has(id)) return;
    use.seen.add(id);
    const fn = this.#tokens.functionOf(id);
    const token = this.#tokens.get(id);
    if (fn !== null) this.#flow.use(this.#facts.fn(fn).result, { kind: 'await', to: use.to });
    else if (token.kind === 'unknown') this.#flow.add(use.to, UNKNOWN);
    else if (token.kind === 'object') this.#flow.use(this.#flow.allProperties(id), use);
    else if (token.kind === 'external' && token.site !== -1 && token.site !== everyRequest)
      this.#flow.use(this.#flow.property(id, this.#flow.kept), use);
  }

  bind(id: TokenId, use: Extract<Use, { kind: 'bind' }>): void {
    const token = this.#tokens.get(id);
    // A bound function is bound no deeper than twice.
    const isDeep = token.kind === 'bound' && this.#tokens.get(token.target).kind === 'bound';
    if (token.kind === 'unknown' || isDeep) this.#flow.add(use.view.to, UNKNOWN);
    else if (token.kind !== 'object')
      this.#flow.add(use.view.to, this.#tokens.bound(id, NOTHING, [], use.promisified, use.stateful));
  }

  keep(call: Call, view: CallView): void {
    const name = this.#methodName(view.op);
    if (name === 'defineProperty' && view.spread < 0) return this.#define(view);
    if (name === 'defineProperties') this.defineAll(view.args[0] ?? NOTHING, view.args[1] ?? NOTHING);
    for (const index of call.keeps ?? []) {
      for (const arg of index < 0 ? view.args : [view.args[index] ?? NOTHING]) {
        if (arg === NOTHING) continue;
        const kept = this.#isCollection(call) ? this.#itemsFor(call, arg, view) : arg;
        const holder = view.isNew ? view.to : view.receiver;
        this.#takenApart.noteKept(kept, holder, view.isNew);
        const isKey = index < 0 && this.#isKey(arg, name, view);
        this.#flow.use(holder, { kind: 'keep', from: kept, isKey, isHandler: takesHandlers(call) });
        if (!view.isNew && this.#makes(call)) this.#flow.use(view.to, { kind: 'keep', from: kept });
        if (copiesProperties(call) && assigning.test(name)) continue;
        for (const target of call.mutates ?? []) {
          if (target === 'this' || target < 0 || (arg === view.args[target] && view.spread < 0)) continue;
          const changed = view.args[target] ?? NOTHING;
          this.#flow.use(changed, { kind: 'store', atom: ANY_PROPERTY, from: arg, op: -1 });
          if (call.deep) this.#keepWithin(changed, arg, view.op);
        }
      }
    }
    if (call.hangsOnRequests !== undefined) this.#hangOnRequests(call.hangsOnRequests, view);
    // Object.assign and its like: what is kept are properties, under their names.
    if (copiesProperties(call)) {
      for (const arg of view.args.slice(1))
        this.#flow.use(arg, { kind: 'copyProperties', to: view.args[0] ?? NOTHING });
    }
  }

  /** `_.merge(target, source)`: what is within the one is put somewhere within the other. */
  #keepWithin(target: ValueId, from: ValueId, op: OpId): void {
    const held = this.#within(from, op);
    this.#flow.edge(from, held);
    this.#flow.use(this.#within(target, op), { kind: 'store', atom: ANY_PROPERTY, from: held, op: -1 });
  }

  /** All that the value holds, however deep. */
  #within(value: ValueId, op: OpId): ValueId {
    const contents = this.#flow.contents(value, op);
    this.#flow.use(contents, { kind: 'load', atom: ANY_PROPERTY, to: contents, receiver: NOTHING, op });
    return contents;
  }

  /** `map.set(key, value)` */
  #isKey(arg: ValueId, name: string, { args, spread, isNew }: CallView): boolean {
    return name === 'set' && !isNew && spread < 0 && args.length === 2 && arg === args[0] && arg !== args[1];
  }

  #hangOnRequests(names: NonNullable<Call['hangsOnRequests']>, view: CallView): void {
    const request = this.#models.type('express.Request');
    if (request === null) return;
    const id = this.#tokens.external(request, everyRequest);
    for (const [name, index] of Object.entries(names))
      this.#properties.store(id, this.#facts.atom(name), view.args[index] ?? NOTHING);
  }

  /** `Readable.from(list)`: a value of a type that a package has. */
  #makes({ returns = 'fresh' }: Call): boolean {
    const [ref, ...others] = this.#models.refs(returns);
    return others.length === 0 && ref?.kind === 'type' && !isContainer(ref.name);
  }

  /** `new Map(entries)`, `new Set(items)`, and `super(items)` of classes that extend these. */
  #isCollection(call: Call): boolean {
    return /^(Weak)?(Map|Set)$/.test(call.returns ?? '');
  }

  #itemsFor(call: Call, from: ValueId, view: CallView): ValueId {
    const items = this.#facts.newValue();
    this.#flow.use(from, { kind: 'load', atom: ANY_PROPERTY, to: items, receiver: from, op: view.op, items: true });
    return call.returns?.endsWith('Map') ? this.#flow.contents(items, view.op) : items;
  }

  /** `Object.defineProperty(o, 'x', { value, get() {…} })` */
  #define(view: CallView): void {
    const target = view.args[0] ?? NOTHING;
    const descriptor = view.args[2] ?? NOTHING;
    const key = this.#facts.strings.get(view.args[1] ?? NOTHING);
    const property = key === undefined ? ANY_PROPERTY : this.#facts.atom(key);
    for (const name of ['value', 'get']) {
      const value = this.#facts.newValue();
      const given = name === 'get' ? this.#facts.newValue() : value;
      const atom = this.#facts.atom(name);
      this.#flow.use(descriptor, { kind: 'load', atom, to: value, receiver: NOTHING, op: -1 });
      this.#flow.use(target, { kind: 'store', atom: property, from: given, op: -1 });
      if (given === value) continue;
      const getter = { op: -1, to: given, receiver: target, args: [], spread: -1, isNew: false, promisified: false };
      this.#flow.use(value, { kind: 'call', view: getter });
    }
  }

  /** `Object.defineProperties(o, { x: { value } })`: whatever these are called. */
  defineAll(target: ValueId, descriptors: ValueId): void {
    const described = this.#facts.newValue();
    const value = this.#facts.newValue();
    const getter = this.#facts.newValue();
    const load = { kind: 'load', receiver: NOTHING, op: -1 } as const;
    this.#flow.use(descriptors, { ...load, atom: ANY_PROPERTY, to: described });
    this.#flow.use(described, { ...load, atom: this.#facts.atom('value'), to: value });
    this.#flow.use(described, { ...load, atom: this.#facts.atom('get'), to: getter });
    const call = { op: -1, to: value, receiver: target, args: [], spread: -1, isNew: false, promisified: false };
    this.#flow.use(getter, { kind: 'call', view: call });
    this.#flow.use(target, { kind: 'store', atom: ANY_PROPERTY, from: value, op: -1 });
  }

  /** `shape`: what is called, where a package has it. */
  giveResult(call: Call, view: CallView, shape: Shape | null = null): void {
    if (view.to === NOTHING) return;
    if (shape !== null && call.shared !== undefined && call.shared !== false)
      this.#giveAgain(call, call.shared, shape, view);
    else this.#giveAnew(call, view);
  }

  /** Plain data belongs to the package, then; of anything else there is one for each name. */
  #giveAgain(call: Call, shared: true | 'kept', shape: Shape, view: CallView): void {
    const isData = /^(fresh|unknown|data|formed .*)$/.test(call.returns ?? 'fresh');
    if (!isData) return this.#giveAnew(call, viewWith(view, { site: this.#flow.firstSite(shape, view) }));
    const data = this.#facts.newValue();
    this.#tokens.heldBy.set(this.#flow.addData(data, view.op), { package: shape.package, shared });
    if (call.promise) this.addPromise(view.op, view.to, data);
    else this.#flow.edge(data, view.to);
    if (call.returns !== 'fresh' && call.returns !== 'data') this.#giveAnew(call, view);
  }

  #giveAnew(call: Call, view: CallView): void {
    if (registersNothing(call, view.args.length)) {
      const { kept } = this.#flow;
      this.#flow.use(view.receiver, { kind: 'load', atom: kept, to: view.to, receiver: NOTHING, op: view.op });
      return;
    }
    this.#givesStateful = call.stateful === true;
    if (call.promise || call.promiseWithoutCallback || view.promisified) {
      // `Promise.all(list)`: what each promise in the list gives, in a list.
      const ofList = call.promise === true && call.returns?.startsWith('copy ') === true;
      const given = ofList
        ? viewWith(view, { args: view.args.map((arg) => this.#awaitedContents(arg, view.op)) })
        : view;
      const byResolver = call.ruptures?.some(({ params }) => params?.includes('Resolver')) === true;
      const returns = view.promisified ? givenToCallback(call) : call.returns;
      const resolved = this.refValue(byResolver ? 'fresh' : (returns ?? 'fresh'), given);
      this.addPromise(view.op, view.to, resolved);
    } else {
      this.#give(call.returns ?? 'fresh', view.to, view);
    }
  }

  #awaitedContents(list: ValueId, op: OpId): ValueId {
    if (list === NOTHING) return NOTHING;
    const items = this.#facts.newValue();
    const awaited = this.#facts.newValue();
    this.#flow.use(list, { kind: 'load', atom: ANY_PROPERTY, to: items, receiver: NOTHING, op: -1 });
    this.#flow.use(items, { kind: 'await', to: awaited, op });
    const array = this.#facts.newValue();
    const token = this.#flow.madeAt(op, 'Array');
    this.#flow.edge(awaited, this.#flow.property(token, ANY_PROPERTY));
    this.#flow.add(array, token);
    return array;
  }

  addPromise(op: OpId, to: ValueId, resolved: ValueId): void {
    const token = this.#flow.madeAt(op, 'Promise');
    this.#flow.use(resolved, { kind: 'await', to: this.#flow.property(token, this.#flow.resolved), op });
    this.#flow.add(to, token);
  }

  await(id: TokenId, to: ValueId, op: OpId): void {
    const token = this.#tokens.get(id);
    if (token.kind === 'object' && token.type === 'Promise')
      return this.#flow.edge(this.#flow.property(id, this.#flow.resolved), to);
    const resolves =
      token.kind === 'external'
        ? this.#models.typeThat(token.shape, (type) => type.resolves !== undefined)?.resolves
        : undefined;
    if (resolves === undefined) this.#flow.add(to, id);
    else
      this.#give(resolves, to, {
        op,
        to,
        receiver: NOTHING,
        args: [],
        spread: -1,
        isNew: false,
        promisified: false,
      });
  }
}

function takesHandlers({ ruptures }: Call): boolean {
  return ruptures?.some(({ request }) => request === true) === true;
}

/** Not if it may be one of none. */
function hasArgument({ args, spread }: CallView, index: number | undefined): boolean {
  return index !== undefined && index < args.length && (spread < 0 || index < spread);
}

/** What a call hands to its error-first callback, which is what it gives when it is promisified. */
function givenToCallback(call: Call): ValueRef | undefined {
  const rupture = call.ruptures?.find(({ callback }) => callback === 'last');
  return rupture === undefined ? call.returns : (rupture.params?.[1] ?? 'unknown');
}

/** What such a call keeps are properties of what it is given. */
function copiesProperties(call: Call): boolean {
  return call.returns === 'argument 0' && call.mutates?.includes(0) === true;
}

// How deep what a new container holds lies in what it was made from: no model says so, their names do.
const assigning = /^(assign|extend|defaults|merge)(In|With|Deep)*$/;
const flattening = /^(flat|concat|from(Entries|Pairs)|zipObject)/;
const settling = /^(then|finally|catch)$/;
const nesting = /^(groupBy|chunk|partition|zip|allSettled)$/;
const byKey = /^(from(Entries|Pairs)|(group|key)By|zipObject)/;
