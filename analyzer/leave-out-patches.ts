/**
 * Reads:   facts, origins, rupture points.
 * Gives:   origins in which handlers of routes do not run what a middleware of other routes has put in the place of a response's methods.
 *
 *     const cached = (req, res, next) => { const { json } = res; res.json = (body) => { cache.set(req.url, body); json.call(res, body); }; next(); };
 *     app.get('/slow', cached, slow);      `slow` runs it
 *     app.get('/fast', fast);              `fast` does not
 *
 *          And the names of these methods: a request that comes to another route all the same, in a way that nobody foresaw, stays where it is.
 *
 * Only where nothing behind such a middleware calls `next()`: its requests come to no other route.
 */
import { isCall } from './call-graph.js';
import {
  ANY_PROPERTY,
  type AtomId,
  type Facts,
  FunctionFlag,
  type FunctionId,
  NOTHING,
  Op,
  type OpId,
  type ValueId,
} from './facts.js';
import type { Ruptures } from './find-rupture-points.js';
import { everyRequest, type TokenId } from './tokens.js';
import type { Origins } from './trace-origins.js';

export function leaveOutPatches(facts: Facts, origins: Origins, ruptures: Ruptures): WithoutPatches {
  const patches = new RoutePatches(facts, origins, ruptures);
  const left = patches.leftOut();
  if (left.size === 0) return { origins, replaced: [] };
  return { origins: without(origins, left), replaced: [...patches.names].sort() };
}

export interface WithoutPatches {
  readonly origins: Origins;
  /** The methods that these stand in the place of. */
  readonly replaced: readonly string[];
}

function without(origins: Origins, left: ReadonlyMap<OpId, ReadonlySet<FunctionId>>): Origins {
  return {
    ...origins,
    calleesOf: (op) => {
      const out = left.get(op);
      const all = origins.calleesOf(op);
      return out === undefined ? all : all.filter((fn) => !out.has(fn));
    },
    calleeTokens: (op) => {
      const out = left.get(op);
      const all = origins.calleeTokens(op);
      return out === undefined ? all : all.filter((id) => !out.has(origins.tokens.functionOf(id) ?? -1));
    },
  };
}

/** A function that stands in the place of a method of responses, and the routes behind whose middleware it does. */
interface Patch {
  readonly fn: FunctionId;
  readonly atom: AtomId;
  readonly routes: ReadonlySet<OpId>;
}

class RoutePatches {
  readonly names = new Set<string>();
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #ruptures: Ruptures;
  /** By handler: the calls that register it as one of a route; null where it is registered, or called, in another way as well. */
  readonly #routesOf = new Map<FunctionId, Set<OpId> | null>();

  constructor(facts: Facts, origins: Origins, ruptures: Ruptures) {
    this.#facts = facts;
    this.#origins = origins;
    this.#ruptures = ruptures;
  }

  leftOut(): ReadonlyMap<OpId, ReadonlySet<FunctionId>> {
    const found = new Map<OpId, Set<FunctionId>>();
    // Most programs have none.
    if (!this.#mayHavePatches()) return found;
    this.#findHandlers();
    const patches = this.#findPatches();
    if (patches.length === 0) return found;
    const { kind, a, c } = this.#facts;
    for (let op = 0; op < kind.length; op++) {
      if (kind.get(op) !== Op.method || !this.#isResponse(a.get(op))) continue;
      const routes = this.#routesAround(op);
      if (routes === null) continue;
      for (const patch of patches) {
        if (patch.atom !== c.get(op) || [...routes].some((route) => patch.routes.has(route))) continue;
        this.names.add(this.#facts.atomName(patch.atom));
        const out = found.get(op);
        if (out === undefined) found.set(op, new Set([patch.fn]));
        else out.add(patch.fn);
      }
    }
    return found;
  }

  #mayHavePatches(): boolean {
    const { kind, a, b } = this.#facts;
    for (let op = 0; op < kind.length; op++)
      if (kind.get(op) === Op.store && this.#mayBeResponse(a.get(op)) && this.#holdsFunction(b.get(op))) return true;
    return false;
  }

  #holdsFunction(value: ValueId): boolean {
    return this.#origins.tokensOf(value).some((id) => this.#origins.tokens.functionOf(id) !== null);
  }

  #findHandlers(): void {
    for (const { op, request, callbacks } of this.#ruptures.points) {
      const isRoute = request && this.#isRoute(op);
      for (const { fn } of callbacks) {
        const known = this.#routesOf.get(fn);
        if (!isRoute || known === null) this.#routesOf.set(fn, null);
        else if (known === undefined) this.#routesOf.set(fn, new Set([op]));
        else known.add(op);
      }
    }
    for (let op = 0; op < this.#facts.kind.length; op++)
      for (const callee of this.#origins.calleesOf(op))
        if (this.#routesOf.has(callee)) this.#routesOf.set(callee, null);
    for (const fn of this.#origins.escaped) if (this.#routesOf.has(fn)) this.#routesOf.set(fn, null);
  }

  #isRoute(op: OpId): boolean {
    const callees = this.#origins.calleeTokens(op).map((id) => this.#origins.tokens.get(id));
    return callees.length > 0 && callees.every((token) => token.kind === 'external' && routes.test(token.shape.path));
  }

  /** Of the handler that the op stands in; null for helpers, and where it is more than a handler of routes. */
  #routesAround(op: OpId): ReadonlySet<OpId> | null {
    return this.#routesOf.get(this.#handlerAround(op)) ?? null;
  }

  #handlerAround(op: OpId): FunctionId {
    let fn = this.#facts.owner.get(op);
    while (fn !== -1 && !this.#routesOf.has(fn)) fn = this.#facts.fn(fn).parent;
    return fn;
  }

  #findPatches(): readonly Patch[] {
    const found = new Map<FunctionId, Patch | null>();
    const { kind, a, b, c } = this.#facts;
    for (let op = 0; op < kind.length; op++) {
      if (kind.get(op) !== Op.store || !this.#mayBeResponse(a.get(op))) continue;
      const routesOf = this.#isResponse(a.get(op)) && c.get(op) !== ANY_PROPERTY ? this.#routesAround(op) : null;
      const handler = this.#handlerAround(op);
      const isBound = routesOf !== null && [...routesOf].every((route) => this.#endsBehind(route, handler));
      for (const id of this.#origins.tokensOf(b.get(op))) {
        const fn = this.#origins.tokens.functionOf(id);
        if (fn === null) continue;
        const known = found.get(fn);
        if (!isBound || known === null || (known !== undefined && known.atom !== c.get(op))) found.set(fn, null);
        else found.set(fn, { fn, atom: c.get(op), routes: new Set([...routesOf, ...(known?.routes ?? [])]) });
      }
    }
    return [...found.values()].filter((patch) => patch !== null);
  }

  /** Of the route's last handlers, which stand behind this one, none passes a request on. */
  #endsBehind(route: OpId, handler: FunctionId): boolean {
    const callbacks = (this.#ruptures.byOp.get(route) ?? []).flatMap((point) => point.callbacks);
    const last = Math.max(...callbacks.map(({ argument }) => argument));
    const count = this.#facts.callCount.get(this.#facts.d.get(route));
    const isBefore = callbacks.every(({ fn, argument }) => fn !== handler || argument < last);
    const ends = callbacks.filter(({ argument }) => argument === last);
    return last === count - 1 && isBefore && ends.every(({ fn }) => !this.#passes(fn, 2, new Set()));
  }

  /** It may call its parameter, which is `next`, other than with an error. */
  #passes(fn: FunctionId, parameter: number, seen: Set<FunctionId>): boolean {
    if (seen.has(fn)) return false;
    seen.add(fn);
    const { params, rest, flags, functionEnd, opStart, opEnd } = this.#facts.fn(fn);
    if (rest >= 0 || (flags & FunctionFlag.usesArguments) !== 0) return true;
    const next = params[parameter] ?? NOTHING;
    if (next === NOTHING) return false;
    const { kind, a, b, owner } = this.#facts;
    for (let op = opStart; op < opEnd; op++) {
      const by = owner.get(op);
      if (by < fn || by >= functionEnd) continue;
      const is = kind.get(op);
      if (isCall(is) ? this.#passesBy(op, next, seen) : is !== Op.read && (a.get(op) === next || b.get(op) === next))
        return true;
    }
    return false;
  }

  #passesBy(op: OpId, next: ValueId, seen: Set<FunctionId>): boolean {
    const { kind, a, c, d, callCount, callSpread } = this.#facts;
    const call = d.get(op);
    const count = callCount.get(call);
    const isMethod = kind.get(op) === Op.method;
    if (a.get(op) === next) return isMethod || count === 0 || callSpread.get(call) >= 0 || this.#isText(op);
    const given = Array.from({ length: count }, (_, index) => index).filter(
      (index) => this.#facts.argument(call, index) === next,
    );
    if (given.length === 0) return kind.get(op) === Op.call && c.get(op) === next;
    // Of promises that fail.
    const name = isMethod ? this.#facts.atomName(c.get(op)) : '';
    if (name === 'catch' || (name === 'then' && given.every((index) => index === 1))) return false;
    const tokens = this.#origins.calleeTokens(op);
    const callees = this.#origins.calleesOf(op);
    if (callSpread.get(call) >= 0 || this.#origins.receiverOf.has(op) || tokens.length === 0) return true;
    if (tokens.some((id) => this.#origins.tokens.functionOf(id) === null)) return true;
    return callees.some((callee) => given.some((index) => this.#passes(callee, index, seen)));
  }

  /** `next('route')` */
  #isText(op: OpId): boolean {
    const first = this.#facts.argument(this.#facts.d.get(op), 0);
    return first === NOTHING || this.#facts.strings.has(first) || this.#facts.plain.has(first);
  }

  #isResponse(value: ValueId): boolean {
    const tokens = this.#origins.tokensOf(value);
    return tokens.length > 0 && tokens.every((id) => this.#isOneOfRequests(id));
  }

  #mayBeResponse(value: ValueId): boolean {
    return this.#origins.tokensOf(value).some((id) => this.#isOneOfRequests(id));
  }

  #isOneOfRequests(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    return token.kind === 'external' && token.site === everyRequest && responses.test(token.shape.typeName ?? '');
  }
}

const routes = /^express\.(Application|Router|Route)\.(get|post|put|patch|delete|head|options)$/;
const responses = /^(express\.Response|http\.ServerResponse)$/;
