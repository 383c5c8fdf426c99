/**
 * Tokens: what a value can be. Few kinds, numbered, made once for each place in the source that makes such a thing.
 */
import { type AtomId, type FunctionId, NOTHING, type ValueId } from './facts.js';
import { IntList } from './int-list.js';
import type { Shape } from './models.js';
import { Properties, PropertyTable } from './property-table.js';

export type TokenId = number;

export type Token =
  /** anything at all: the analysis has lost track */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'function'; readonly fn: FunctionId }
  /** An object made by the program. `type` names a built-in type or `Instance`, `Prototype`; `proto` is where what it
   *  does not have itself is looked up. */
  | {
      readonly kind: 'object';
      readonly type: string;
      readonly fn: FunctionId;
      readonly start: number;
      readonly proto: ValueId;
    }
  /** A value from outside. `site` tells instances apart: the op that made it, or -1. */
  | { readonly kind: 'external'; readonly shape: Shape; readonly site: number }
  /** `target` with receiver and first arguments fixed, or called with a callback and giving a promise. */
  | {
      readonly kind: 'bound';
      readonly target: TokenId;
      readonly receiver: ValueId;
      readonly args: readonly ValueId[];
      readonly promisified: boolean;
      /** It remembers something from call to call (`_.memoize(fn)`). */
      readonly stateful: boolean;
    };

export const UNKNOWN: TokenId = 0;

/** Stands for the place where requests and their like are made. */
export const everyRequest = -2;

export class TokenTable {
  readonly #tokens: Token[] = [{ kind: 'unknown' }];
  readonly #properties = new PropertyTable();
  readonly #all: ValueId[] = [NOTHING];
  /** By function; 0 for those that have none so far. */
  readonly #functions = new IntList(1024);
  readonly #externals = new Map<Shape, Map<number, TokenId>>();
  readonly #bound = new Map<string, TokenId>();
  /** What packages may give again: the package, and whether that is only what the program has put there. */
  readonly heldBy = new Map<TokenId, { readonly package: string; readonly shared: true | 'kept' }>();

  constructor() {
    this.#properties.addToken();
  }

  get(id: TokenId): Token {
    return this.#tokens[id] as Token;
  }

  get length(): number {
    return this.#tokens.length;
  }

  make(token: Token): TokenId {
    this.#properties.addToken();
    this.#all.push(NOTHING);
    return this.#tokens.push(token) - 1;
  }

  function(fn: FunctionId): TokenId {
    this.#functions.extend(fn + 1);
    let id = this.#functions.get(fn);
    if (id === 0) this.#functions.set(fn, (id = this.make({ kind: 'function', fn })));
    return id;
  }

  external(shape: Shape, site: number): TokenId {
    let sites = this.#externals.get(shape);
    if (sites === undefined) this.#externals.set(shape, (sites = new Map()));
    let id = sites.get(site);
    if (id === undefined) sites.set(site, (id = this.make({ kind: 'external', shape, site })));
    return id;
  }

  /** Those that are there so far. */
  allOf(shape: Shape): readonly TokenId[] {
    return [...(this.#externals.get(shape)?.values() ?? [])];
  }

  bound(target: TokenId, receiver: ValueId, args: readonly ValueId[], promisified: boolean, stateful = false): TokenId {
    const key = `${target} ${receiver} ${promisified} ${stateful} ${args.join(' ')}`;
    let id = this.#bound.get(key);
    if (id === undefined) {
      id = this.make({ kind: 'bound', target, receiver, args, promisified, stateful });
      this.#bound.set(key, id);
    }
    return id;
  }

  /** Named properties that something was stored under or loaded from; ANY_PROPERTY is what has no known name. */
  properties(id: TokenId): Properties {
    this.#properties.ask(id);
    return new Properties(this.#properties, id);
  }

  /** One of these, if it is there: this is asked millions of times. */
  property(id: TokenId, atom: AtomId): ValueId | undefined {
    return this.#properties.get(id, atom);
  }

  /** Undefined where nobody has asked for any. */
  knownProperties(id: TokenId): Properties | undefined {
    return this.#properties.isAsked(id) ? new Properties(this.#properties, id) : undefined;
  }

  /** The value that gathers all properties, once something loads a property by a name that is not known. */
  all(id: TokenId): ValueId {
    return this.#all[id] as ValueId;
  }

  setAll(id: TokenId, value: ValueId): void {
    this.#all[id] = value;
  }

  /** The function behind a function or bound token. */
  functionOf(id: TokenId): FunctionId | null {
    let token = this.get(id);
    while (token.kind === 'bound') token = this.get(token.target);
    return token.kind === 'function' ? token.fn : null;
  }
}
