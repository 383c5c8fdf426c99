/**
 * Reads: parts, origins of what they call.
 * Gives: for each part the packages through which it speaks over the network: databases, queues, mail. A replica can do so too,
 *        unless the package's connection was made by start-up, which a replica's start-up must not make a second time.
 */
import type { Part } from '../analyzer/cut-parts.js';
import { type FunctionId, Op } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';

export function findConnects(pipeline: Pipeline): (part: Part) => readonly string[] {
  const known = new Array<readonly string[] | undefined>(pipeline.facts.functions.length).fill(undefined);
  const speaks = new Speakers(pipeline);
  const of = (fn: FunctionId): readonly string[] => (known[fn] ??= connectsOf(pipeline, fn, speaks));
  return (part) => {
    const packages = new Set<string>();
    for (const { fn } of part.runs) for (const name of of(fn)) packages.add(name);
    return packages.size === 0 ? none : [...packages].sort();
  };
}

const none: readonly string[] = [];

function connectsOf(pipeline: Pipeline, fn: FunctionId, speaks: Speakers): readonly string[] {
  const { facts, effects, origins } = pipeline;
  let packages: Set<string> | null = null;
  for (const op of effects.ops.of(fn)) {
    const isNew = facts.kind.get(op) === Op.construct;
    for (const id of origins.calleeTokens(op)) {
      const name = speaks.of(id, isNew);
      if (name !== null) (packages ??= new Set()).add(name);
    }
  }
  return packages === null ? none : [...packages];
}

/** What is known of tokens that are called, and of those that are constructed. Hardly any of them speaks. */
class Speakers {
  readonly #pipeline: Pipeline;
  readonly #names = [new Map<TokenId, string>(), new Map<TokenId, string>()] as const;
  /** 1 where it is known already. */
  readonly #known: readonly [Uint8Array, Uint8Array];

  constructor(pipeline: Pipeline) {
    const { length } = pipeline.origins.tokens;
    this.#pipeline = pipeline;
    this.#known = [new Uint8Array(length), new Uint8Array(length)];
  }

  of(id: TokenId, isNew: boolean): string | null {
    const way = isNew ? 1 : 0;
    if (this.#known[way][id] === 1) return this.#names[way].get(id) ?? null;
    this.#known[way][id] = 1;
    const name = packageThatConnects(this.#pipeline, id, isNew);
    if (name !== null) this.#names[way].set(id, name);
    return name;
  }
}

function packageThatConnects({ origins, models }: Pipeline, id: TokenId, isNew: boolean): string | null {
  let token = origins.tokens.get(id);
  while (token.kind === 'bound') token = origins.tokens.get(token.target);
  if (token.kind !== 'external' || token.shape.package === '' || token.shape.isOfNode) return null;
  const call = models.call(token.shape, isNew);
  return call?.does?.includes('network') || call?.connects ? token.shape.package : null;
}
