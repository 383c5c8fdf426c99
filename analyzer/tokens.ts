/**
 * Tokens: what a value can be. Few kinds, numbered, made once for each place in the source that makes such a thing.
 */
import { type AtomId, type FunctionId, NOTHING, type ValueId } from './facts.js';
import { IntKeys } from './int-keys.js';
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

/** What a value can be, as a number: of one token its inverted one, of several that of a list. */
export type TokenSetId = number;

export function setOfOne(token: TokenId): TokenSetId {
  return ~token;
}

const kinds = { unknown: 0, function: 1, object: 2, external: 3, bound: 4 } as const;

/** So many tokens are kept as those have them who ask: mostly for one that has just been asked for. A power of two. */
const mostKnown = 2048;

export class TokenTable {
  // Tokens, one entry in each column. Of functions, objects: the function; of others by number.
  readonly #kind = new IntList(1024);
  readonly #of = new IntList(1024);
  readonly #start = new IntList(1024);
  readonly #proto = new IntList(1024);
  readonly #type = new IntList(1024);
  readonly #types: string[] = [];
  readonly #typeNumbers = new Map<string, number>();
  readonly #shapes: Shape[] = [];
  readonly #shapeNumbers = new Map<Shape, number>();
  readonly #boundTokens: Extract<Token, { kind: 'bound' }>[] = [];
  readonly #knownIds = new Int32Array(mostKnown).fill(-1);
  readonly #known: Token[] = new Array<Token>(mostKnown).fill({ kind: 'unknown' });
  readonly #properties = new PropertyTable();
  readonly #all = new IntList(1024);
  /** By function; 0 for those that have none so far. */
  readonly #functions = new IntList(1024);
  /** By shape and site: the token, and the next of that shape. */
  readonly #externals = new IntKeys();
  readonly #externalTokens = new IntList(256);
  readonly #nextExternals = new IntList(256);
  /** By shape the first external, and the last. */
  readonly #firstExternals: number[] = [];
  readonly #lastExternals: number[] = [];
  readonly #bound = new Map<string, TokenId>();
  /** What packages may give again: the package, and whether that is only what the program has put there. */
  readonly heldBy = new Map<TokenId, { readonly package: string; readonly shared: true | 'kept' }>();

  constructor() {
    this.make({ kind: 'unknown' });
  }

  get(id: TokenId): Token {
    const at = id & (mostKnown - 1);
    if (this.#knownIds[at] === id) return this.#known[at] as Token;
    const token = this.#read(id);
    this.#knownIds[at] = id;
    this.#known[at] = token;
    return token;
  }

  #read(id: TokenId): Token {
    const of = this.#of.get(id);
    switch (this.#kind.get(id)) {
      case kinds.function:
        return { kind: 'function', fn: of };
      case kinds.object: {
        const type = this.#types[this.#type.get(id)] as string;
        return { kind: 'object', type, fn: of, start: this.#start.get(id), proto: this.#proto.get(id) };
      }
      case kinds.external:
        return { kind: 'external', shape: this.#shapes[of] as Shape, site: this.#start.get(id) };
      case kinds.bound:
        return this.#boundTokens[of] as Token;
      default:
        return { kind: 'unknown' };
    }
  }

  get length(): number {
    return this.#kind.length;
  }

  make(token: Token): TokenId {
    this.#properties.addToken();
    this.#all.push(NOTHING);
    this.#of.push(this.#numberOf(token));
    this.#start.push(token.kind === 'object' ? token.start : token.kind === 'external' ? token.site : 0);
    this.#proto.push(token.kind === 'object' ? token.proto : NOTHING);
    this.#type.push(token.kind === 'object' ? this.#typeNumber(token.type) : 0);
    return this.#kind.push(kinds[token.kind]);
  }

  #numberOf(token: Token): number {
    switch (token.kind) {
      case 'unknown':
        return 0;
      case 'function':
      case 'object':
        return token.fn;
      case 'external':
        return this.#shapeNumber(token.shape);
      case 'bound':
        return this.#boundTokens.push(token) - 1;
    }
  }

  #typeNumber(type: string): number {
    let number = this.#typeNumbers.get(type);
    if (number === undefined) this.#typeNumbers.set(type, (number = this.#types.push(type) - 1));
    return number;
  }

  #shapeNumber(shape: Shape): number {
    let number = this.#shapeNumbers.get(shape);
    if (number === undefined) {
      this.#shapeNumbers.set(shape, (number = this.#shapes.push(shape) - 1));
      this.#firstExternals.push(-1);
      this.#lastExternals.push(-1);
    }
    return number;
  }

  function(fn: FunctionId): TokenId {
    this.#functions.extend(fn + 1);
    let id = this.#functions.get(fn);
    if (id === 0) this.#functions.set(fn, (id = this.make({ kind: 'function', fn })));
    return id;
  }

  external(shape: Shape, site: number): TokenId {
    const number = this.#shapeNumber(shape);
    const { length } = this.#externals;
    const place = this.#externals.add(number, site);
    if (place < length) return this.#externalTokens.get(place);
    const last = this.#lastExternals[number] as number;
    if (last === -1) this.#firstExternals[number] = place;
    else this.#nextExternals.set(last, place);
    this.#lastExternals[number] = place;
    this.#nextExternals.push(-1);
    const id = this.make({ kind: 'external', shape, site });
    this.#externalTokens.push(id);
    return id;
  }

  /** Those that are there so far. */
  allOf(shape: Shape): readonly TokenId[] {
    const found: TokenId[] = [];
    for (let at = this.#firstExternals[this.#shapeNumber(shape)] as number; at !== -1; at = this.#nextExternals.get(at))
      found.push(this.#externalTokens.get(at));
    return found;
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
    return this.#all.get(id);
  }

  setAll(id: TokenId, value: ValueId): void {
    this.#all.set(id, value);
  }

  /** The function behind a function or bound token. */
  functionOf(id: TokenId): FunctionId | null {
    let token = this.get(id);
    while (token.kind === 'bound') token = this.get(token.target);
    return token.kind === 'function' ? token.fn : null;
  }
}
