/**
 * Reads:   parts and the streams that lead to them.
 * Gives:   an id for each: the function's own name, else one made from what the source says around it, so that edits
 *          elsewhere do not change it (`post_upload_readFile`).
 */
import { ById, type ReadonlyById } from '../analyzer/by-id.js';
import type { Part, PartId, PartStream } from '../analyzer/cut-parts.js';
import type { Facts, FunctionId } from '../analyzer/facts.js';
import { moduleWord } from './tag-groups.js';

export function nameFluxions(facts: Facts, parts: readonly Part[]): ReadonlyById<string> {
  const namer = new Namer(facts, parts);
  return namer.names();
}

const SEVERAL = -1;

/** Of all parts that have one stem. */
interface Namesakes {
  module: number;
  isMain: boolean;
}

class Namer {
  readonly #facts: Facts;
  readonly #parts: readonly Part[];
  readonly #first = new Map<FunctionId, Part>();
  readonly #stems: ById<string>;
  readonly #inProgress = new Set<PartId>();

  constructor(facts: Facts, parts: readonly Part[]) {
    this.#facts = facts;
    this.#parts = parts;
    this.#stems = new ById(parts.length);
    for (const part of parts) if (part.kind !== 'rest') this.#first.set(part.fn.id, part);
  }

  names(): ReadonlyById<string> {
    const names = new ById<string>(this.#parts.length);
    const taken = new Map<string, number>();
    const byStem = new Map<string, Namesakes>();
    for (const part of this.#parts) {
      const stem = this.#stem(part);
      const { module } = part.fn;
      const same = byStem.get(stem);
      if (same === undefined) byStem.set(stem, { module, isMain: part.kind === 'main' });
      else {
        if (same.module !== module) same.module = SEVERAL;
        same.isMain ||= part.kind === 'main';
      }
    }
    for (const part of this.#parts) {
      const stem = this.#stem(part);
      names.set(part.id, take(this.#qualified(part, stem, byStem.get(stem) as Namesakes), taken));
    }
    return names;
  }

  /** Equal names in different modules all get their module's name in front: none of them is the first. */
  #qualified(part: Part, stem: string, { module, isMain }: Namesakes): string {
    if (part.kind === 'main' || module !== SEVERAL) return stem;
    if (isMain && stem === 'main') return `${moduleWord(this.#facts, part.fn.module)}_main`;
    return `${moduleWord(this.#facts, part.fn.module)}_${stem}`;
  }

  #stem(part: Part): string {
    const known = this.#stems.get(part.id);
    if (known !== undefined) return known;
    // A callback that starts itself again has no beginning to be named after.
    if (this.#inProgress.has(part.id)) return 'again';
    this.#inProgress.add(part.id);
    const stem = this.#makeStem(part);
    this.#inProgress.delete(part.id);
    this.#stems.set(part.id, stem);
    return stem;
  }

  #makeStem(part: Part): string {
    if (part.kind === 'main') return 'main';
    if (part.kind === 'rest') return `${this.#ownerStem(part)}_${this.#awaited(part)}`;
    // What a package calls the function that it makes for every route says nothing of any of them.
    const own = this.#facts.isOfPackage(part.fn.id) ? '' : word(part.fn.name);
    if (own !== '' && own !== 'default') return own;
    if (part.entry === null) return `${this.#placeStem(part)}callback`;
    return this.#fromStream(part.entry.from, part.entry);
  }

  /** The function around a rest: its first part, or its name where it is a local function. */
  #ownerStem(part: Part): string {
    const first = this.#first.get(part.fn.id);
    if (first !== undefined) return this.#stem(first);
    return word(part.fn.name) || `${this.#placeStem(part)}async`;
  }

  #awaited(part: Part): string {
    const cut = part.cut;
    if (cut === null || cut.calleeEnd === 0) return 'await';
    const module = this.#facts.modules[part.fn.module];
    const text = module === undefined ? '' : module.text.slice(cut.calleeStart, cut.calleeEnd);
    return word(/[\p{ID_Continue}$]+\s*$/u.exec(text)?.[0] ?? '') || 'await';
  }

  #fromStream(from: PartId, stream: PartStream): string {
    const point = stream.point;
    if (point === null) return 'rest';
    const callee = word(/[\p{ID_Continue}$]+\s*$/u.exec(point.callee)?.[0] ?? '') || 'callback';
    const label = point.path === '' ? '' : word(point.path);
    const own = [callee, label].filter((piece) => piece !== '').join('_');
    const upstream = this.#parts[from] as Part;
    return upstream.kind === 'main' ? own : `${shortened(this.#stem(upstream))}_${own}`;
  }

  #placeStem(part: Part): string {
    for (let fn = part.fn.parent; fn >= 0; fn = this.#facts.fn(fn).parent) {
      const fact = this.#facts.fn(fn);
      const name = fact.parent === -1 ? '' : word(fact.name);
      if (name !== '') return `${name}_`;
    }
    return '';
  }
}

/** What goes on behind the longest way that somebody writes by hand. Generated code goes on for thousands of steps, and the names of all steps
 *  before each of them would be longer than the program. */
const LONG = 160;

function shortened(stem: string): string {
  return stem.length <= LONG ? stem : `${stem.slice(0, LONG / 2).replace(/_[^_]*$/, '')}_and_on`;
}

/** The stem, or the first number behind it that nobody has. `taken`: by stem the last number that was; of a file with
 *  thousands of callbacks all have one stem. */
function take(stem: string, taken: Map<string, number>): string {
  let id = stem;
  let n = taken.get(stem) ?? 1;
  while (taken.has(id) || id === 'null') id = `${stem}_${++n}`;
  taken.set(stem, n);
  if (id !== stem) taken.set(id, 1);
  return id;
}

/** Words of any text as an identifier: `/users/:id` gives `users_id`. */
function word(text: string): string {
  const joined = text
    .replace(/[^\p{ID_Continue}$]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 48);
  return joined === '' ? '' : joined.replace(/^(?=\d)/, '_');
}
