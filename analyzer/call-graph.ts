/**
 * Reads:   origins and facts.
 * Gives:   functions in an order in which callees come before their callers, those that call each other together.
 */
import { type Facts, type FunctionId, Op, type OpId } from './facts.js';
import { IntList } from './int-list.js';
import type { Origins } from './trace-origins.js';

/** Ops by the function that runs them, in source order: of functions with no other function in them they stand one behind the other. */
export class OpsByFunction {
  /** By function: its first op, and how many; of others, below 0, where the inverted place of the first one is in `#ops`. */
  readonly #first: Int32Array;
  readonly #count: Int32Array;
  readonly #ops: Int32Array;

  constructor(facts: Facts) {
    const { owner: owners, functions } = facts;
    this.#first = new Int32Array(functions.length).fill(-1);
    this.#count = new Int32Array(functions.length);
    const last = new Int32Array(functions.length);
    for (let op = 0; op < owners.length; op++) {
      const owner = owners.get(op);
      if (this.#first[owner] === -1) this.#first[owner] = op;
      this.#count[owner] = (this.#count[owner] as number) + 1;
      last[owner] = op;
    }
    let apart = 0;
    const next = new Int32Array(functions.length).fill(-1);
    for (let fn = 0; fn < functions.length; fn++) {
      const count = this.#count[fn] as number;
      if (count === 0 || (last[fn] as number) - (this.#first[fn] as number) === count - 1) continue;
      this.#first[fn] = ~apart;
      next[fn] = apart;
      apart += count;
    }
    this.#ops = new Int32Array(apart);
    for (let op = 0; op < owners.length; op++) {
      const owner = owners.get(op);
      const place = next[owner] as number;
      if (place === -1) continue;
      this.#ops[place] = op;
      next[owner] = place + 1;
    }
  }

  of(fn: FunctionId): Int32Array {
    const first = this.#first[fn] as number;
    const count = this.#count[fn] as number;
    if (count === 0) return noOps;
    if (first < 0) return this.#ops.subarray(~first, ~first + count);
    const ops = new Int32Array(count);
    for (let index = 0; index < count; index++) ops[index] = first + index;
    return ops;
  }
}

const noOps = new Int32Array(0);

export function isCall(kind: number): boolean {
  return kind === Op.call || kind === Op.method || kind === Op.construct;
}

/** Functions that call each other in a circle, or one by itself: one behind the other, as there are as many as functions. */
class Components {
  readonly #functions = new IntList(1024);
  /** Where each one ends, twice, and one more where it is a circle. */
  readonly #ends = new IntList(1024);

  add(functions: readonly FunctionId[], isCircle: boolean): void {
    for (const fn of functions) this.#functions.push(fn);
    this.#ends.push(this.#functions.length * 2 + (isCircle ? 1 : 0));
  }

  each(visit: (functions: readonly FunctionId[], isCircle: boolean) => void): void {
    let at = 0;
    for (let index = 0; index < this.#ends.length; index++) {
      const end = this.#ends.get(index);
      const functions: FunctionId[] = [];
      while (at < end >> 1) functions.push(this.#functions.get(at++));
      visit(functions, (end & 1) === 1);
    }
  }
}

/** Strongly connected components, callees first (Tarjan's algorithm, with a stack of its own). */
export function calleesFirst(
  facts: Facts,
  ops: OpsByFunction,
  origins: Origins,
  heldBy: (op: OpId) => readonly FunctionId[],
): Pick<Components, 'each'> {
  const count = facts.functions.length;
  const held = (op: OpId): readonly FunctionId[] => (isCall(facts.kind.get(op)) ? heldBy(op) : noCallees);
  const callees = Array.from({ length: count }, (_, fn) => directCallees(ops.of(fn), origins, held));
  const index = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const onStack = new Uint8Array(count);
  const stack: FunctionId[] = [];
  const components = new Components();
  let next = 0;

  const enter = (fn: FunctionId): Frame => {
    index[fn] = low[fn] = next++;
    stack.push(fn);
    onStack[fn] = 1;
    return { fn, at: 0 };
  };

  for (let root = 0; root < count; root++) {
    if (index[root] !== -1) continue;
    const frames: Frame[] = [enter(root)];
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { fn } = frame;
      const callee = callees[fn]?.[frame.at++];
      if (callee === undefined) {
        frames.pop();
        const caller = frames.at(-1)?.fn;
        if (caller !== undefined) low[caller] = Math.min(low[caller] as number, low[fn] as number);
        if (low[fn] === index[fn]) {
          const functions = popComponent(stack, onStack, fn);
          components.add(functions, functions.length > 1 || callees[fn]?.includes(fn) === true);
        }
      } else if (index[callee] === -1) {
        frames.push(enter(callee));
      } else if (onStack[callee] === 1) {
        low[fn] = Math.min(low[fn] as number, index[callee] as number);
      }
    }
  }
  return components;
}

interface Frame {
  readonly fn: FunctionId;
  at: number;
}

function popComponent(stack: FunctionId[], onStack: Uint8Array, root: FunctionId): FunctionId[] {
  const component: FunctionId[] = [];
  for (let fn = stack.pop(); fn !== undefined; fn = stack.pop()) {
    onStack[fn] = 0;
    component.push(fn);
    if (fn === root) break;
  }
  return component;
}

function directCallees(
  ops: Int32Array,
  origins: Origins,
  heldBy: (op: OpId) => readonly FunctionId[],
): readonly FunctionId[] {
  let found: Set<FunctionId> | null = null;
  for (let index = 0; index < ops.length; index++) {
    const op = ops[index] as OpId;
    const callees = origins.calleesOf(op);
    const inPlace = origins.inPlaceOf(op);
    const held = heldBy(op);
    if (callees.length + inPlace.length + held.length === 0) continue;
    found ??= new Set();
    for (const callee of callees) found.add(callee);
    for (const callee of inPlace) found.add(callee);
    for (const callee of held) found.add(callee);
  }
  return found === null ? noCallees : [...found];
}

const noCallees: readonly FunctionId[] = [];
