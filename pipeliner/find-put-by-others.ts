/**
 * Reads: origins, models, the packages that are loaded.
 * Gives: of what hangs on a request, whether others may have put it there who have it from the app: then it is the app's, whatever request it hangs on.
 *
 *     passport.use(new Strategy((token, done) => done(null, users.get(token))));     app.post('/', (req, res) => { req.user.seen = now; … });
 *
 * What the program itself puts there has tokens of its own, or is new.
 */
import { ANY_PROPERTY, NOTHING, Op } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import { everyRequest, type TokenId } from '../analyzer/tokens.js';

export class PutByOthers {
  readonly #pipeline: Pipeline;
  /** Names under which the program puts something on requests; null until that is asked. */
  #own: ReadonlySet<string> | null = null;

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
  }

  has(id: TokenId): boolean {
    const { models, origins } = this.#pipeline;
    const token = origins.tokens.get(id);
    if (token.kind !== 'external' || token.site !== everyRequest) return false;
    const name = models.nameOfOthers(token.shape);
    if (name === null) return false;
    this.#own ??= origins.areRequestsExposed ? new Set() : this.#findOwn();
    return !this.#own.has(name);
  }

  #findOwn(): ReadonlySet<string> {
    const { facts, graph, models, origins } = this.#pipeline;
    const found = new Set<string>();
    const { kind: kinds } = facts;
    for (let op = 0; op < kinds.length; op++) {
      const name = facts.c.get(op);
      if (kinds.get(op) !== Op.store || name === ANY_PROPERTY || facts.b.get(op) === NOTHING) continue;
      const isOnRequest = origins.tokensOf(facts.a.get(op)).some((id) => {
        const token = origins.tokens.get(id);
        return token.kind === 'external' && token.site === everyRequest && !models.isData(token.shape);
      });
      if (isOnRequest) found.add(facts.atomName(name));
    }
    for (const { name } of graph.externals) for (const put of models.putsGiven(name)) found.delete(put);
    return found;
  }
}
