/**
 * What lowering one module carries along: the lists that it appends to, where it is, and the variables in sight.
 */
import type * as es from 'estree';
import type { Names } from '../../syntax/bind-names.js';
import type { BoundVariable, Definition } from '../../syntax/name-scopes.js';
import type { Offsets } from '../../syntax/parser.js';
import { LiteralPiece } from '../../syntax/pieces.js';
import {
  type AwaitCut,
  type Facts,
  type FunctionFact,
  FunctionFlag,
  type FunctionId,
  type Guard,
  NOTHING,
  Op,
  type TryRange,
  type ValueId,
  VariableKind,
} from '../facts.js';
import type { SourceKind } from '../parse.js';
import type { PathPattern } from './constants.js';

/** The function that is being lowered. */
export interface FunctionState {
  readonly fact: FunctionFact;
  segment: number;
  /** The first segment in which what is lowered now may run: less than `segment` in `catch` and `finally`. */
  segmentFrom: number;
  loop: number;
  /** Awaits met so far; statements compare before and after. */
  awaits: number;
  /** The statement being lowered is on the straight line of the body. */
  straight: boolean;
  tries: readonly TryRange[];
  lastAwait: { readonly start: number; readonly argument: es.Expression | null } | null;
  /** Depth of statements that may not be executed. */
  conditional: number;
  /** Depth of `try` blocks. */
  trying: number;
  /** The test that what is lowered now stands behind. */
  guard: Guard | null;
}

export interface LoadRequest {
  readonly value: ValueId;
  readonly specifier: string;
  readonly mode: 'require' | 'import';
  readonly binding: string | null;
  readonly start: number;
  readonly end: number;
  readonly certain: boolean;
  /** Entry of `Facts.lateLoads`; -1 where it is certain. */
  readonly late: number;
}

export interface ExportAll {
  readonly specifier: string;
  readonly mode: 'import';
  readonly certain: true;
  readonly start: number;
  readonly end: number;
}

/** A namespace, under this name, has what the value holds at any time. */
export interface ShownExport {
  readonly namespace: ValueId;
  readonly name: string;
  readonly value: ValueId;
}

/** A `require` or `import()` whose target is not a constant. */
export interface DynamicLoad {
  readonly mode: 'require' | 'import';
  /** Null where it could be any file. */
  readonly pattern: PathPattern | null;
  readonly late: number;
  readonly value: ValueId;
  readonly start: number;
  readonly end: number;
}

/** One for all functions that have none. */
const none: readonly never[] = [];

export class LoweringContext {
  readonly facts: Facts;
  readonly text: string;
  readonly file: string;
  readonly moduleIndex: number;
  readonly kind: SourceKind;
  readonly loads: LoadRequest[] = [];
  readonly exportAlls: ExportAll[] = [];
  readonly dynamicLoads: DynamicLoad[] = [];
  /** What the top level throws where nothing in the module catches it. */
  uncaught: ValueId = NOTHING;
  /** ES modules: what each exported name stands for. */
  readonly exportBindings = new Map<string, ValueId>();
  readonly shown: ShownExport[] = [];
  /** `const` variables that hold no object, some of them because nothing that is read of `process.env` is one. */
  readonly plainConstants = new Set<ValueId>();
  readonly environmentConstants = new Set<ValueId>();
  /** Variables that something is put into which may be an object. */
  readonly bound = new Set<ValueId>();
  /** Values of `const` variables that are strings known now. */
  readonly constants = new Map<ValueId, string>();
  /** Variables that hold a `require` function made by createRequire. */
  readonly requireVariables = new Set<ValueId>();
  /** Class bodies around: `super` and the receiver of field initialisers. */
  readonly superclasses: { readonly value: ValueId; readonly isStatic: boolean }[] = [];

  /** Static blocks and fields around: `this` is the class there. */
  readonly statics: { readonly within: FunctionFact; readonly self: ValueId }[] = [];

  state!: FunctionState;
  moduleValue: ValueId = NOTHING;
  exportsValue: ValueId = NOTHING;
  /** `import.meta`, where the text has it. */
  metaValue: ValueId = NOTHING;
  assignsModuleExports = false;
  usesExports = false;

  readonly #names: Names;
  readonly #numberAt: Int32Array;
  /** By the number of a variable, once its function has been reached. */
  #valueOf = new Int32Array(256);
  readonly #globals: Map<string, ValueId>;
  readonly #innerNames = new Map<es.Node, ValueId>();
  #isMarkedAsCompiled: boolean | null = null;

  constructor(options: {
    facts: Facts;
    text: string;
    file: string;
    kind: SourceKind;
    moduleIndex: number;
    names: Names;
    /** By offset, the number of the variable that an identifier means. */
    numberAt: Int32Array;
    globals: Map<string, ValueId>;
  }) {
    this.facts = options.facts;
    this.text = options.text;
    this.file = options.file;
    this.kind = options.kind;
    this.moduleIndex = options.moduleIndex;
    this.#names = options.names;
    this.#numberAt = options.numberAt;
    this.#globals = options.globals;
  }

  /** Compilers say so of modules that they write. Looked for when it is asked, and once: a text may be long. */
  get isMarkedAsCompiled(): boolean {
    this.#isMarkedAsCompiled ??= this.text.includes('__esModule');
    return this.#isMarkedAsCompiled;
  }

  /** Before anybody looks into it. */
  enter(node: es.Function): void {
    this.#names.enter(node);
  }

  /** The one that is meant, where this only stands for it. */
  statementOf<Statement extends es.Node>(node: Statement): Statement {
    return this.#names.statementOf(node) as Statement;
  }

  /** Gives values to the variables of all scopes that belong to `node`. */
  declareVariables(node: es.Node, owner: FunctionFact): void {
    for (const scope of this.#names.scopesOf(node))
      for (const variable of scope.variables) this.#declareVariable(variable, scope.ofClass, owner);
  }

  /** All of the function has been lowered, once and for all. What the tree of a bundle takes goes as what it is lowered to comes. */
  leave(node: es.Function): void {
    for (const { ofClass } of this.#names.scopesOf(node)) if (ofClass !== null) this.#innerNames.delete(ofClass);
    this.#names.forget(node);
    if (node.body.type === 'BlockStatement') node.body.body.length = 0;
  }

  /** It has been lowered. */
  leaveLiteral(node: es.Node): void {
    if (node instanceof LiteralPiece) node.release();
  }

  /** `arguments.length`: only how many there are. */
  #isCount(end: number): boolean {
    return COUNT.test(this.text.slice(end, end + 40));
  }

  #declareVariable(variable: BoundVariable, ofClass: es.Node | null, owner: FunctionFact): void {
    const uses = variable.definition === 'arguments' ? variable.usesOfArguments : null;
    if (uses !== null && uses.length === 0) return;
    const value = this.facts.newValue();
    this.#setValue(variable.number, value);
    // A class declaration's name stands for two variables: one outside, and one that only its body sees.
    if (ofClass !== null) this.#innerNames.set(ofClass, value);
    const isCounted = uses !== null && !variable.dynamic && uses.every((end) => this.#isCount(end));
    if (uses !== null && !isCounted) owner.flags |= FunctionFlag.usesArguments;
    const isLasting = owner.parent === -1 || variable.captured || (owner.flags & FunctionFlag.async) !== 0;
    if (!isLasting && variable.definition !== 'parameter' && uses === null) return;
    this.facts.variables.add({
      value,
      name: this.facts.word(variable.name),
      owner: owner.id,
      segment: 0,
      segmentFrom: 0,
      module: this.moduleIndex,
      start: variable.declared[0] ?? owner.start,
      kind: variableKinds[variable.definition],
      loop: 0,
      constant: variable.constant,
    });
  }

  #setValue(number: number, value: ValueId): void {
    if (number >= this.#valueOf.length) {
      const longer = new Int32Array(Math.max(this.#valueOf.length * 2, number + 1));
      longer.set(this.#valueOf);
      this.#valueOf = longer;
    }
    this.#valueOf[number] = value;
  }

  /** The variable that an identifier stands for, or NOTHING for globals. */
  variableAt(identifier: es.Node): ValueId {
    return this.#valueOf[this.#numberAt[offset(identifier)] as number] as number;
  }

  /** The variable by which the body of a class sees it. */
  innerName(node: es.Class): ValueId {
    return this.#innerNames.get(node) ?? NOTHING;
  }

  /** A variable that every module has without declaring it. */
  declareOwn(value: ValueId, name: 'exports' | 'module' | 'import.meta'): void {
    this.facts.variables.add({
      value,
      name,
      owner: this.state.fact.id,
      segment: 0,
      segmentFrom: 0,
      module: this.moduleIndex,
      start: 0,
      kind: VariableKind.module,
      loop: 0,
      constant: false,
    });
  }

  global(words: string): ValueId {
    let value = this.#globals.get(words);
    if (value === undefined) {
      const name = this.facts.word(words);
      value = this.facts.newValue();
      this.#globals.set(name, value);
      this.facts.globals.add(value);
      this.facts.seeds.push({ kind: 'global', value, name });
      this.facts.variables.add({
        value,
        name,
        owner: -1,
        segment: 0,
        segmentFrom: 0,
        module: this.moduleIndex,
        start: 0,
        kind: VariableKind.global,
        loop: 0,
        constant: false,
      });
    }
    return value;
  }

  op(kind: number, a: number, b: number, c: number, d: number, position: number): number {
    const state = this.state;
    const segment = state.segment | (state.segmentFrom << 16);
    return this.facts.pushOp(kind, a, b, c, d, position, state.fact.id, segment, state.loop);
  }

  /** What the load runs is found when all modules are there. */
  loadLate(position: number): number {
    const late = this.facts.lateLoads.push(null) - 1;
    this.op(Op.loadLate, NOTHING, NOTHING, late, 0, position);
    return late;
  }

  copy(from: ValueId, to: ValueId, position: number): void {
    if (from !== NOTHING && to !== NOTHING) this.op(Op.copy, from, to, 0, this.state.conditional, position);
  }

  load(base: ValueId, property: string | null, position: number): ValueId {
    if (property === '__proto__') return this.#prototypeOf(base, position);
    if (base === NOTHING) return NOTHING;
    const result = this.facts.newValue();
    this.op(Op.load, base, result, property === null ? 0 : this.facts.atom(property), 0, position);
    return result;
  }

  /** `base.__proto__`: whatever that is, it may be what all objects have. */
  #prototypeOf(base: ValueId, position: number): ValueId {
    const object = this.global('Object');
    const result = this.facts.newValue();
    this.copy(this.load(object, 'prototype', position), result, position);
    if (base === NOTHING) return result;
    const here = { start: position, end: position };
    const call = this.call([{ value: base, ...here }], -1, here, position);
    const own = this.facts.newValue();
    this.op(Op.method, object, own, this.facts.atom('getPrototypeOf'), call, position);
    this.copy(own, result, position);
    return result;
  }

  /** What iterating over `base` gives. */
  items(base: ValueId, position: number): ValueId {
    if (base === NOTHING) return NOTHING;
    const result = this.facts.newValue();
    this.op(Op.load, base, result, 0, 1, position);
    return result;
  }

  store(base: ValueId, property: string | null, value: ValueId, isNew: boolean, position: number): void {
    if (base === NOTHING) return;
    this.op(Op.store, base, value, property === null ? 0 : this.facts.atom(property), isNew ? 1 : 0, position);
  }

  /** A new object of a built-in type made at this place. */
  object(type: string, start: number): ValueId {
    const value = this.facts.newValue();
    this.facts.seeds.push({ kind: 'object', value, type, start, fn: this.state.fact.id });
    return value;
  }

  read(variable: ValueId, position: number): void {
    if (this.facts.variables.has(variable)) this.op(Op.read, variable, 0, 0, 0, position);
  }

  write(variable: ValueId, position: number): void {
    if (this.facts.variables.has(variable)) this.op(Op.write, variable, 0, 0, 0, position);
  }

  /** Records where a variable is declared, once that is known: which segment, which loop. */
  placeVariable(value: ValueId): void {
    const { segment, segmentFrom, loop } = this.state;
    this.facts.variables.place(value, segment, segmentFrom, loop);
  }

  call(
    args: readonly { readonly value: ValueId; readonly start: number; readonly end: number }[],
    spread: number,
    callee: { readonly start: number; readonly end: number },
    end: number,
  ): number {
    const facts = this.facts;
    facts.callFirst.push(facts.args.length);
    facts.callCount.push(args.length);
    facts.callSpread.push(spread);
    facts.calleeStart.push(callee.start);
    facts.calleeEnd.push(callee.end);
    facts.callOp.push(facts.kind.length);
    for (const arg of args) {
      facts.args.push(arg.value);
      facts.argStart.push(arg.start);
      facts.argEnd.push(arg.end);
    }
    return facts.callEnd.push(end);
  }

  newFunction(
    shape: Pick<FunctionFact, 'start' | 'end' | 'bodyStart' | 'bodyEnd' | 'name' | 'flags'>,
    parent: FunctionState | null,
  ): FunctionFact {
    const facts = this.facts;
    const id: FunctionId = facts.functions.length;
    const arrow = (shape.flags & FunctionFlag.arrow) !== 0;
    const valueStart = facts.valueCount;
    // Written out: spreading objects costs more than all the rest of this.
    return facts.addFunction({
      start: shape.start,
      end: shape.end,
      bodyStart: shape.bodyStart,
      bodyEnd: shape.bodyEnd,
      name: facts.word(shape.name),
      flags: shape.flags,
      id,
      origin: id,
      parent: parent === null ? -1 : parent.fact.id,
      parentSegment: parent === null ? 0 : parent.segment,
      module: this.moduleIndex,
      params: none,
      arity: 0,
      rest: -1,
      list: NOTHING,
      self: facts.newValue(),
      receiver: arrow && parent !== null ? parent.fact.receiver : facts.newValue(),
      result: facts.newValue(),
      cuts: none,
      opStart: facts.kind.length,
      opEnd: 0,
      valueStart,
      valueEnd: 0,
      functionEnd: 0,
    });
  }

  /** Lowers the inside of a function: `body` runs with the function as the current one. */
  inside(fact: FunctionFact, body: () => void): void {
    const outer = this.state;
    this.state = {
      fact,
      segment: 0,
      segmentFrom: 0,
      loop: 0,
      awaits: 0,
      straight: true,
      tries: none,
      lastAwait: null,
      conditional: 0,
      trying: 0,
      guard: null,
    };
    body();
    this.state = outer;
    fact.opEnd = this.facts.kind.length;
    fact.valueEnd = this.facts.valueCount;
    fact.functionEnd = this.facts.functions.length;
  }

  cut(cut: AwaitCut): void {
    this.state.fact.cuts = this.state.fact.cuts.concat(cut);
    this.state.segment += 1;
    this.state.segmentFrom = this.state.segment;
  }

  /** In code that may run zero or more times, or not at all, nothing is on the straight line. */
  aside(body: () => void): void {
    const state = this.state;
    const straight = state.straight;
    state.straight = false;
    state.conditional += 1;
    body();
    state.conditional -= 1;
    state.straight = straight;
  }

  inLoop(body: () => void): void {
    const state = this.state;
    const loop = state.loop;
    state.loop = this.facts.newLoop(loop);
    this.aside(body);
    state.loop = loop;
  }
}

export function offset(node: es.Node): number {
  return (node as unknown as Offsets).start;
}

export function endOf(node: es.Node): number {
  return (node as unknown as Offsets).end;
}

/** Read, not assigned. */
const COUNT = /^\.length\b(?!\s*(?:\+\+|--|(?:[-+*/%&|^?]|\*\*|<<|>>>?|&&|\|\||\?\?)?=(?!=)))/;

const variableKinds: { readonly [definition in Definition]: number } = {
  arguments: VariableKind.arguments,
  parameter: VariableKind.parameter,
  import: VariableKind.import,
  function: VariableKind.function,
  class: VariableKind.class,
  local: VariableKind.local,
};
