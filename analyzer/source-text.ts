/**
 * The words of the source, for labels, names and messages.
 */
import type { Place } from '../flx/program.js';
import type { Facts, ModuleFact, OpId } from './facts.js';
import { apart } from './module-texts.js';

const longest = 60;

export class SourceText {
  readonly #facts: Facts;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** An argument of a call, on one line and not too long. */
  argument(op: OpId, index: number): string {
    const call = this.#facts.d.get(op);
    if (index >= this.#facts.callCount.get(call)) return '';
    const at = this.#facts.callFirst.get(call) + index;
    return this.slice(this.#moduleOf(op), this.#facts.argStart.get(at), this.#facts.argEnd.get(at));
  }

  /** The words at a place where something is changed: `entry.hits` of `entry.hits += 1`. */
  changed(op: OpId): string {
    const { text } = this.#moduleOf(op);
    const start = this.#facts.position.get(op);
    return apart(/^[\w$.#[\]'"]+/.exec(text.slice(start, start + longest))?.[0] ?? 'this');
  }

  slice(module: ModuleFact, start: number, end: number): string {
    const cut = end - start > longest * 3;
    const text = module.text
      .slice(start, cut ? start + longest * 3 : end)
      .replace(/\s+/g, ' ')
      .trim();
    return apart(text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
  }

  #moduleOf(op: OpId): ModuleFact {
    return this.#facts.moduleOf(this.#facts.owner.get(op));
  }

  /** The property that an op reads or changes, as it is written. */
  property(op: OpId): string {
    const start = this.#facts.position.get(op);
    const path = /^[\w$#]+(\??\.[\w$#]+)+/.exec(this.#moduleOf(op).text.slice(start, start + longest));
    return path === null ? this.#facts.atomName(this.#facts.c.get(op)) : apart(path[0]);
  }

  /** The words that load a module. */
  loaded(op: OpId): string {
    const start = this.#facts.position.get(op);
    const words = /^[\w.\s]+\([^()]*\)/.exec(this.#moduleOf(op).text.slice(start, start + longest));
    return words === null ? 'a module' : `"${words[0].replace(/\s+/g, ' ')}"`;
  }

  place(op: OpId): Place {
    return placeAt(this.#moduleOf(op), this.#facts.position.get(op));
  }
}

export function placeAt(module: ModuleFact, offset: number): Place {
  const starts = module.lineStarts;
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts.get(middle) <= offset) low = middle;
    else high = middle - 1;
  }
  return { module: module.id, line: low + 1, column: offset - starts.get(low) + 1 };
}

/** `fs.readFile`, `app.route("/x").get`: what is called, as far as it is names; `…` stands for the rest. */
export function calleeText(facts: Facts, source: SourceText, op: OpId): string {
  const call = facts.d.get(op);
  const module = facts.moduleOf(facts.owner.get(op));
  return namesOf(
    source.slice(module, facts.calleeStart.get(call), facts.calleeEnd.get(call)),
    module.text,
    facts.calleeEnd.get(call),
  );
}

/** Of a callee that is no plain path of names, the last names of it: `readFile(x).then` gives `….then`. */
export function namesOf(short: string, text: string, end: number): string {
  if (/^[\w$.#]+$/.test(short)) return short;
  // What compilers make of a call of something imported: `(0, fs_1.readFile)(path)`.
  const imported = /^\(?\s*0\s*,\s*([\w$.#]+)\s*\)?$/.exec(short)?.[1];
  if (imported !== undefined) return imported;
  const tail = /[\w$#]+(\s*\??\.\s*[\w$#]+)*$/.exec(text.slice(Math.max(0, end - 80), end))?.[0] ?? '';
  return tail === '' ? short : `….${tail.replace(/\s+/g, '').replace(/^\.+/, '')}`;
}
