/**
 * The uses that wait for tokens, by value, in the order in which they came: a chain of numbers for each value. There are about as many uses as ops in
 * the program, so each is a number, its code. Nearly all are uses of ops, or rows of columns: who asks for one of these is given an object.
 *
 *     op         four times its number; of what a method call does with the method, of the inverted number
 *     row        a use that is no more than some numbers
 *     shadowed   a load and the property that hides what it would find
 *     object     any other use
 */
import type { AtomId, Facts, OpId, ValueId } from '../facts.js';
import { IntKeys } from '../int-keys.js';
import { IntList } from '../int-list.js';
import { type Load, loadWith, type Use } from './uses.js';

const OP = 0;
const ROW = 1;
const SHADOWED = 2;
const OBJECT = 3;
const codeBits = 2;
const codeKind = (1 << codeBits) - 1;

/** Kinds of rows, and behind these bits what else is said of one. */
const Row = {
  load: 0,
  store: 1,
  keep: 2,
  await: 3,
  throw: 4,
  copyProperties: 5,
  pass: 6,
  escape: 7,
  receive: 8,
} as const;
const rowBits = 4;
const rowKind = (1 << rowBits) - 1;
const ITEMS = 1 << rowBits;
const VALUES = 2 << rowBits;
/** It is a key, or it is lent. */
const SUCH = 1 << rowBits;
const HANDLER = 2 << rowBits;

export class WaitingUses {
  readonly #facts: Facts;
  /** By value the last entry of its chain, which leads to the first. */
  readonly #last = new IntList(4096);
  readonly #next = new IntList(4096);
  readonly #code = new IntList(4096);
  readonly #objects: Use[] = [];
  readonly #codes = new Map<Use, number>();
  readonly #row = new IntList(1024);
  readonly #atom = new IntList(1024);
  readonly #to = new IntList(1024);
  readonly #from = new IntList(1024);
  readonly #op = new IntList(1024);
  /** Loads that are shadowed, by op and by where they go; each with what hides something from it. */
  readonly #loads = new IntKeys();
  readonly #shadows = new IntKeys();
  readonly #shadowedLoad = new IntList(64);
  readonly #shadow = new IntList(64);
  readonly #up = new IntList(64);

  constructor(facts: Facts) {
    this.#facts = facts;
    // No chain has 0.
    this.#next.push(0);
    this.#code.push(0);
  }

  addOp(value: ValueId, code: number): void {
    this.append(value, code << codeBits);
  }

  add(value: ValueId, use: Use): void {
    this.append(value, this.#codeOf(use));
  }

  append(value: ValueId, code: number): void {
    const entry = this.#next.push(0);
    this.#code.push(code);
    this.#last.extend(value + 1);
    const last = this.#last.get(value);
    this.#next.set(entry, last === 0 ? entry : this.#next.get(last));
    if (last !== 0) this.#next.set(last, entry);
    this.#last.set(value, entry);
  }

  /** The first of its uses, 0 if there is none. */
  first(value: ValueId): number {
    const last = value < this.#last.length ? this.#last.get(value) : 0;
    return last === 0 ? 0 : this.#next.get(last);
  }

  next(value: ValueId, entry: number): number {
    return entry === this.#last.get(value) ? 0 : this.#next.get(entry);
  }

  /** The op whose use it is, null for other uses. */
  op(entry: number): number | null {
    const code = this.#code.get(entry);
    return (code & codeKind) === OP ? code >> codeBits : null;
  }

  use(entry: number): Use {
    return this.#useOf(this.#code.get(entry));
  }

  /** The load of an op. */
  loadOf(op: OpId): Load {
    const { a, b, c, d } = this.#facts;
    return load(c.get(op), b.get(op), a.get(op), op, d.get(op) === 1, false, op << codeBits);
  }

  /** The same for uses that are the same. */
  knownCode(use: Use): number {
    if (use.kind === 'load') return this.#codeOf(use);
    let code = this.#codes.get(use);
    if (code === undefined) this.#codes.set(use, (code = this.#codeOf(use)));
    return code;
  }

  /** The load, where `shadow` hides what it would find. */
  shadowed(use: Load, shadow: ValueId, up: number): Load {
    const { length } = this.#shadows;
    const place = this.#shadows.add(this.#loads.add(use.op, use.to), shadow);
    if (place === length) {
      const code = this.#codeOf(use);
      const isShadowed = (code & codeKind) === SHADOWED;
      this.#shadowedLoad.push(isShadowed ? this.#shadowedLoad.get(code >> codeBits) : code);
      this.#shadow.push(shadow);
      this.#up.push(up);
    }
    return this.#shadowedAt(place);
  }

  #codeOf(use: Use): number {
    if (use.kind === 'load') return (use.code ??= this.#newCode(use));
    return this.#newCode(use);
  }

  #newCode(use: Use): number {
    switch (use.kind) {
      case 'load': {
        const { items, values, shadow, up, atom, to, receiver, op } = use;
        if (shadow !== undefined || up !== undefined) break;
        return this.#newRow(Row.load | (items ? ITEMS : 0) | (values ? VALUES : 0), atom, to, receiver, op);
      }
      case 'store':
        return this.#newRow(Row.store, use.atom, 0, use.from, use.op);
      case 'keep': {
        const { isKey, isHandler } = use;
        return this.#newRow(Row.keep | (isKey ? SUCH : 0) | (isHandler ? HANDLER : 0), 0, 0, use.from, 0);
      }
      case 'await':
        return this.#newRow(Row.await, 0, use.to, 0, use.op ?? -1);
      case 'throw':
        return this.#newRow(Row.throw, 0, 0, 0, use.op);
      case 'copyProperties':
        return this.#newRow(Row.copyProperties, 0, use.to, 0, 0);
      case 'pass':
        return this.#newRow(Row.pass, 0, use.to, 0, 0);
      case 'escape':
        return this.#newRow(Row.escape, 0, 0, 0, 0);
      case 'receive':
        return this.#newRow(Row.receive | (use.isLent ? SUCH : 0), 0, 0, use.receiver, 0);
    }
    return ((this.#objects.push(use) - 1) << codeBits) | OBJECT;
  }

  #newRow(kind: number, atom: AtomId, to: ValueId, from: ValueId, op: OpId): number {
    this.#atom.push(atom);
    this.#to.push(to);
    this.#from.push(from);
    this.#op.push(op);
    return (this.#row.push(kind) << codeBits) | ROW;
  }

  #useOf(code: number): Use {
    const place = code >> codeBits;
    switch (code & codeKind) {
      case OP:
        return this.loadOf(place);
      case ROW:
        return this.#rowAt(place, code);
      case SHADOWED:
        return this.#shadowedAt(place);
      default:
        return this.#objects[place] as Use;
    }
  }

  #rowAt(place: number, code: number): Use {
    const row = this.#row.get(place);
    switch (row & rowKind) {
      case Row.store:
        return { kind: 'store', atom: this.#atom.get(place), from: this.#from.get(place), op: this.#op.get(place) };
      case Row.keep:
        return {
          kind: 'keep',
          from: this.#from.get(place),
          isKey: (row & SUCH) !== 0,
          isHandler: (row & HANDLER) !== 0,
        };
      case Row.await:
        return { kind: 'await', to: this.#to.get(place), op: this.#op.get(place) };
      case Row.throw:
        return { kind: 'throw', op: this.#op.get(place) };
      case Row.copyProperties:
        return { kind: 'copyProperties', to: this.#to.get(place) };
      case Row.pass:
        return { kind: 'pass', to: this.#to.get(place) };
      case Row.escape:
        return { kind: 'escape' };
      case Row.receive:
        return { kind: 'receive', receiver: this.#from.get(place), isLent: (row & SUCH) !== 0 };
      default: {
        const [to, receiver, op] = [this.#to.get(place), this.#from.get(place), this.#op.get(place)];
        return load(this.#atom.get(place), to, receiver, op, (row & ITEMS) !== 0, (row & VALUES) !== 0, code);
      }
    }
  }

  #shadowedAt(place: number): Load {
    const shown = this.#useOf(this.#shadowedLoad.get(place)) as Load;
    const code = (place << codeBits) | SHADOWED;
    const shadowed = loadWith(shown, shown.to, this.#shadow.get(place), this.#up.get(place));
    shadowed.code = code;
    return shadowed;
  }
}

function load(
  atom: AtomId,
  to: ValueId,
  receiver: ValueId,
  op: OpId,
  items: boolean,
  values: boolean,
  code: number,
): Load {
  return { kind: 'load', atom, to, receiver, op, items, values, shadow: undefined, up: undefined, code };
}
