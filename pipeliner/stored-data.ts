/**
 * Reads:   Pipeline, data of requests that the program puts into objects which outlive them (`items.push(req.body)`).
 * Gives:   whether who changes such data may change what is kept: `req.item.tags.push(tag)` does if a middleware has looked the item up.
 *
 * All data of a request is one token, that which was kept as well. So it is the way there that tells: `req.body.name` leads to nothing but the
 * request's own.
 */
import { ANY_PROPERTY, type AtomId, Op, type OpId, type ValueId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';
import type { LastingObjects } from './lasting-objects.js';

export class StoredData {
  readonly #pipeline: Pipeline;
  readonly #lasting: LastingObjects;
  /** By value: loads and copies that it comes from. */
  #sources: ReadonlyMap<ValueId, readonly OpId[]> | null = null;

  constructor(pipeline: Pipeline, lasting: LastingObjects) {
    this.#pipeline = pipeline;
    this.#lasting = lasting;
  }

  /** Objects that keep what the value holds, if it may be something that is kept. */
  keepersOf(value: ValueId): ReadonlySet<TokenId> {
    const found = new Set<TokenId>();
    if (this.#lasting.data.size === 0) return found;
    const stored = this.#storedIn(value);
    if (stored.length === 0 || this.#isOfRequest(value, new Set())) return found;
    for (const token of stored) for (const keeper of this.#lasting.data.get(token) ?? nothing) found.add(keeper);
    return found;
  }

  #storedIn(value: ValueId): readonly TokenId[] {
    return this.#pipeline.origins.tokensOf(value).filter((id) => this.#lasting.data.has(id));
  }

  /** It is reached from the request by nothing but names of the request's own. */
  #isOfRequest(value: ValueId, seen: Set<ValueId>): boolean {
    if (seen.has(value) || this.#storedIn(value).length === 0) return true;
    seen.add(value);
    this.#sources ??= this.#findSources();
    const sources = this.#sources.get(value) ?? nothing;
    return sources.length > 0 && sources.every((op) => this.#leadsFromRequest(op, seen));
  }

  #leadsFromRequest(op: OpId, seen: Set<ValueId>): boolean {
    const { facts, origins, models } = this.#pipeline;
    const from = facts.a.get(op);
    if (facts.kind.get(op) === Op.copy) return this.#isOfRequest(from, seen);
    const name = facts.c.get(op);
    return origins.tokensOf(from).every((id) => {
      const token = origins.tokens.get(id);
      if (token.kind === 'object') return !this.#hasStored(id, name);
      if (token.kind !== 'external' || token.site !== everyRequest) return false;
      if (models.isData(token.shape)) return this.#isOfRequest(from, seen);
      const member = name === ANY_PROPERTY ? null : models.member(token.shape, facts.atomName(name));
      const put = origins.tokensOf(origins.tokens.knownProperties(id)?.get(name) ?? 0);
      return member !== null && models.isData(member) && put.length === 0;
    });
  }

  #hasStored(id: TokenId, name: AtomId): boolean {
    const properties = this.#pipeline.origins.tokens.knownProperties(id);
    const values =
      name === ANY_PROPERTY
        ? [...(properties?.values() ?? [])]
        : [name, ANY_PROPERTY].map((atom) => properties?.get(atom) ?? 0);
    return values.some((value) => this.#storedIn(value).length > 0);
  }

  #findSources(): ReadonlyMap<ValueId, readonly OpId[]> {
    const { facts } = this.#pipeline;
    const found = new Map<ValueId, OpId[]>();
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      if (kinds.get(op) !== Op.copy && kinds.get(op) !== Op.load) continue;
      const to = facts.b.get(op);
      if (this.#storedIn(to).length === 0) continue;
      const known = found.get(to);
      if (known === undefined) found.set(to, [op]);
      else known.push(op);
    }
    return found;
  }
}

const nothing: readonly number[] = [];
