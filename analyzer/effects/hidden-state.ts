/**
 * Reads: origins, models.
 * Gives: which values from outside hold state that no variable shows: what a call made of which the model says so
 *        (`knex({ client: 'sqlite3' })`, which may be a database in memory), and what such a value made (`db.define('User')`).
 */
import { ANY_PROPERTY, type Facts, Op, type OpId, type ValueId } from '../facts.js';
import type { Models, Shape } from '../models.js';
import type { TokenId } from '../tokens.js';
import type { Origins } from '../trace-origins.js';

/** In the place of names of options: whatever they are called. */
const ANY_OBJECT = '*';
/** What a package has made that nobody knows. */
const UNKNOWN_THING = '?';
/** Lists in options. */
const mostDeep = 3;

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
      known = this.#isMadeByHolder(token.site) || this.#hasBeenGiven(id, token.site);
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
    if (isHolder || this.#isGiven(site) || (this.#isMadeAgain(site) && this.#isGivenWithin(site))) return true;
    if (this.#facts.kind.get(site) !== Op.method) return false;
    return this.#origins.tokensOf(this.#facts.a.get(site)).some((id) => this.holds(id));
  }

  /** `createElement(Lazy)`: one such value is given to the call. */
  #isGiven(site: OpId): boolean {
    const call = this.#facts.d.get(site);
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      for (const id of this.#origins.tokensOf(this.#facts.argument(call, index))) if (this.holds(id)) return true;
    }
    return false;
  }

  /** Each loop makes one of its own: a logger, a pool. */
  #isMadeAgain(site: OpId): boolean {
    const isNew = this.#facts.kind.get(site) === Op.construct;
    return this.#origins.calleeTokens(site).some((id) => {
      const token = this.#origins.tokens.get(id);
      return token.kind === 'external' && this.#models.call(token.shape, isNew)?.connects === true;
    });
  }

  /** `logger.add(new File({ filename }))` */
  #hasBeenGiven(id: TokenId, site: OpId): boolean {
    if (!this.#isMadeAgain(site)) return false;
    for (const value of this.#origins.tokens.knownProperties(id)?.values() ?? [])
      if (this.#isWithin(value, mostDeep)) return true;
    return false;
  }

  #isGivenWithin(site: OpId): boolean {
    return this.#argumentsOf(site).some((value) => this.#isWithin(value, mostDeep));
  }

  #isWithin(value: ValueId, depth: number): boolean {
    return this.#origins.tokensOf(value).some((id) => {
      const token = this.#origins.tokens.get(id);
      if (token.kind === 'external' && token.site >= 0) return this.#isOutlet(token.shape) || this.holds(id);
      if (token.kind !== 'object' || depth === 0) return false;
      const properties = this.#origins.tokens.knownProperties(id)?.values() ?? [];
      return [...properties].some((each) => this.#isWithin(each, depth - 1));
    });
  }

  /** An open file or connection, or what may be one: a replica's start-up opens none, and what is written there is lost. */
  #isOutlet(shape: Shape): boolean {
    if (shape.package === 'tty') return false;
    const isStream = this.#models.extends(shape, 'stream.Writable') || this.#models.extends(shape, 'stream.Duplex');
    return isStream && !/^stream\./.test(shape.typeName ?? '');
  }

  #argumentsOf(site: OpId): readonly ValueId[] {
    const call = this.#facts.d.get(site);
    return Array.from({ length: this.#facts.callCount.get(call) }, (_, index) => this.#facts.argument(call, index));
  }

  /** A driver is handed over, or something that may be one. */
  #isGivenCode(site: OpId, options: readonly string[]): boolean {
    const call = this.#facts.d.get(site);
    for (let index = 0; index < this.#facts.callCount.get(call); index++) {
      for (const id of this.#origins.tokensOf(this.#facts.argument(call, index))) {
        const token = this.#origins.tokens.get(id);
        if (token.kind === 'unknown') return true;
        if (token.kind === 'object' && options.includes(ANY_OBJECT)) return true;
        const isUnknown = token.kind === 'external' && token.site >= 0 && this.#models.isUnknown(token.shape);
        if (isUnknown && options.includes(UNKNOWN_THING)) return true;
        for (const [atom, value] of this.#origins.tokens.knownProperties(id) ?? []) {
          const mayBe = atom === ANY_PROPERTY || options.includes(this.#facts.atomName(atom));
          if (mayBe && this.#origins.tokensOf(value).length > 0) return true;
        }
      }
    }
    return false;
  }
}
