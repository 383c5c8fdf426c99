/**
 * Reads: origins, models.
 * Gives: which values from outside hold state that no variable shows: what a call made of which the model says so
 *        (`knex({ client: 'sqlite3' })`, which may be a database in memory), and what such a value made (`db.define('User')`).
 */
import { ANY_PROPERTY, type Facts, Op, type OpId } from '../facts.js';
import type { Models } from '../models.js';
import type { TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

export class HiddenState {
  readonly #facts: Facts;
  readonly #origins: Origins;
  readonly #models: Models;
  readonly #known = new Map<TokenId, boolean>();

  constructor(facts: Facts, origins: Origins, models: Models) {
    this.#facts = facts;
    this.#origins = origins;
    this.#models = models;
  }

  holds(id: TokenId): boolean {
    const token = this.#origins.tokens.get(id);
    if (token.kind === 'bound') return this.holds(token.target);
    if (token.kind !== 'external' || token.site < 0) return false;
    let known = this.#known.get(id);
    if (known === undefined) {
      // One that made itself, as far as can be told, is what its other makers say.
      this.#known.set(id, false);
      known = this.#isMadeByHolder(token.site);
      this.#known.set(id, known);
    }
    return known;
  }

  #isMadeByHolder(site: OpId): boolean {
    const isNew = this.#facts.kind.get(site) === Op.construct;
    const isHolder = this.#origins.calleeTokens(site).some((id) => {
      const token = this.#origins.tokens.get(id);
      const model = token.kind === 'external' ? this.#models.call(token.shape, isNew) : null;
      if (model?.stateful === true || this.holds(id)) return true;
      return model?.statefulWith !== undefined && this.#isGivenCode(site, model.statefulWith.options);
    });
    if (isHolder || this.isGiven(site)) return true;
    if (this.#facts.kind.get(site) !== Op.method) return false;
    return this.#origins.tokensOf(this.#facts.a.get(site)).some((id) => this.holds(id));
  }

  /** `createElement(Lazy)`: one such value is given to the call. */
  isGiven(site: OpId): boolean {
    const call = this.#facts.d.get(site);
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      for (const id of this.#origins.tokensOf(this.#facts.argument(call, index))) if (this.holds(id)) return true;
    }
    return false;
  }

  /** A driver is handed over, or something that may be one. */
  #isGivenCode(site: OpId, options: readonly string[]): boolean {
    const call = this.#facts.d.get(site);
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      for (const id of this.#origins.tokensOf(this.#facts.argument(call, index))) {
        const token = this.#origins.tokens.get(id);
        if (token.kind === 'unknown') return true;
        for (const [atom, value] of this.#origins.tokens.knownProperties(id) ?? []) {
          const mayBe = atom === ANY_PROPERTY || options.includes(this.#facts.atomName(atom));
          if (mayBe && this.#origins.tokensOf(value).length > 0) return true;
        }
      }
    }
    return false;
  }
}
