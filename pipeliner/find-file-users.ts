/**
 * Reads: what parts call that works on files before it returns (`readFileSync`), or has another program do so (`execSync`).
 * Gives: the parts that have to take turns at that, each with a place; none where nothing but start-up's first turn changes files so.
 *
 * Node has one thread: what a handler reads and writes between two waits is one step for all others.
 *
 *     const rows = JSON.parse(fs.readFileSync(file));  rows.push(row);  fs.writeFileSync(file, JSON.stringify(rows));
 *
 * What waits (`await readFile(file)`) may be overtaken with node as well; but not by who asks when it has been answered, where the
 * answer is sent before the file is written.
 */
import { isCall } from '../analyzer/call-graph.js';
import type { Part, PartId } from '../analyzer/cut-parts.js';
import { type FunctionId, Op, type OpId } from '../analyzer/facts.js';
import type { Pipeline } from '../analyzer/index.js';
import type { TokenId } from '../analyzer/tokens.js';
import type { Flows } from './flows.js';

type Use = 'reads' | 'appends' | 'changes' | 'waits';

const AT_ONCE = /(^|\.)(sync|\w*Sync)$/;
const READS =
  /\.(access|close|exists|fstat|glob|lstat|opendir|pathExists|read|readdir|readFile|readJson|readJSON|readlink|readv|realpath|stat|statfs)Sync(\.native)?$/;
const APPENDS = /\.appendFileSync$/;
const REPLIES =
  /^(end|write|json|jsonp|send|sendStatus|sendFile|sendfile|download|render|redirect|writeHead|flushHeaders)$/;
const ENDS = /^\W?(exit|beforeExit|SIGTERM|SIGINT|SIGHUP|SIGQUIT)\W?$/;
const MODULES = /^(fs|child_process|fs-extra|graceful-fs|mkdirp|rimraf|glob)$/;

interface Used {
  readonly op: OpId;
  readonly use: Use;
}

export function findFileUsers(pipeline: Pipeline, flows: Flows): ReadonlyMap<PartId, OpId> {
  const found = new Map<PartId, OpId>();
  if (!pipeline.graph.externals.some(({ name }) => MODULES.test(name.replace(/^node:/, '')))) return found;
  const finder = new FileUsers(pipeline);
  const endings = findEndings(pipeline, flows);
  const isLooked = ({ id }: Part): boolean => id !== 0 && !endings.has(id);
  const parts = [...pipeline.parts.list, pipeline.parts.outsiders].filter(isLooked);
  const uses = new Map(parts.map((part) => [part.id, finder.usesOf(part)]));
  const all = [...uses.values()].flat();
  const has = (wanted: Use): boolean => all.some(({ use }) => use === wanted);
  // Lines at the end of a file are in some order with node as well.
  if (!has('changes') && !(has('appends') && (has('reads') || finder.isBehindReply))) return found;
  for (const [part, used] of uses) {
    const first = used.find(({ use }) => use !== 'waits' || finder.isBehindReply);
    if (first !== undefined) found.set(part, first.op);
  }
  return found;
}

/** What runs when the process ends: nobody is answered any more behind that. */
function findEndings({ parts }: Pipeline, flows: Flows): ReadonlySet<PartId> {
  const found = new Set<PartId>();
  for (const { streams } of parts.list) {
    for (const { point, to } of streams) {
      if (point === null || !/^process\./.test(point.callee) || !ENDS.test(point.label)) continue;
      for (const part of to) for (const id of [part, ...flows.behind(part).keys()]) found.add(id);
    }
  }
  for (const id of found) if (flows.isInRequest(id) || flows.behind(0).has(id)) found.delete(id);
  return found;
}

class FileUsers {
  /** Somewhere files are changed when a reply has been sent. */
  isBehindReply = false;
  readonly #pipeline: Pipeline;
  readonly #byFunction = new Map<FunctionId, readonly Used[]>();
  readonly #byToken = new Map<TokenId, Use | null>();

  constructor(pipeline: Pipeline) {
    this.#pipeline = pipeline;
  }

  /** Without what an async function does in another of its segments. */
  usesOf({ runs }: Part): readonly Used[] {
    const { facts } = this.#pipeline;
    return runs.flatMap(({ fn, segment }) =>
      this.#usesIn(fn).filter(({ op }) => {
        const segments = facts.segmentOf(op);
        return segments >>> 16 <= segment && segment <= (segments & 0xffff);
      }),
    );
  }

  #usesIn(fn: FunctionId): readonly Used[] {
    let uses = this.#byFunction.get(fn);
    if (uses === undefined) this.#byFunction.set(fn, (uses = this.#find(fn)));
    return uses;
  }

  #find(fn: FunctionId): readonly Used[] {
    const { effects, facts } = this.#pipeline;
    const found: Used[] = [];
    let hasReplied = false;
    for (const op of effects.ops.of(fn)) {
      if (!isCall(facts.kind.get(op))) continue;
      hasReplied ||= this.#replies(op);
      const use = this.#useBy(op);
      if (use === null) continue;
      found.push({ op, use });
      this.isBehindReply ||= hasReplied && (use === 'changes' || use === 'appends');
    }
    return found;
  }

  #useBy(op: OpId): Use | null {
    let found: Use | null = null;
    for (const id of this.#pipeline.origins.calleeTokens(op)) {
      let use = this.#byToken.get(id);
      if (use === undefined) this.#byToken.set(id, (use = this.#useOf(id)));
      if (use !== null && found !== 'changes') found = use;
    }
    return found;
  }

  #useOf(id: TokenId): Use | null {
    const { origins, models } = this.#pipeline;
    let token = origins.tokens.get(id);
    while (token.kind === 'bound') token = origins.tokens.get(token.target);
    if (token.kind !== 'external') return null;
    const { path } = token.shape;
    const does = models.call(token.shape, false)?.does;
    if (does === undefined || !(does.includes('files') || does.includes('subprocess'))) return null;
    if (!AT_ONCE.test(path)) return 'waits';
    if (APPENDS.test(path)) return 'appends';
    return READS.test(path) ? 'reads' : 'changes';
  }

  #replies(op: OpId): boolean {
    const { facts, origins, models } = this.#pipeline;
    if (facts.kind.get(op) !== Op.method || !REPLIES.test(facts.atomName(facts.c.get(op)))) return false;
    return origins.tokensOf(facts.a.get(op)).some((id) => {
      const token = origins.tokens.get(id);
      return token.kind === 'external' && models.typeThat(token.shape, (type) => type.reply === true) !== null;
    });
  }
}
