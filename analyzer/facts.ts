/**
 * What the analyzer keeps of a program once the syntax trees are gone: numbered values, and operations on them.
 *
 * A tree costs about 25 times its source text, so each module is lowered to these lists as soon as it is parsed and its tree is
 * dropped. The lists are columns of integers; the small classes around them give the columns names.
 *
 *   value   a place where a value can be: a variable, a parameter, `this`, a result; 0 is "nothing of interest"
 *   op      one step of a function that moves values, calls, or has an effect
 *   atom    an interned property or variable name; 0 is "some property, not known which"
 */
import type { ModuleId } from '../flx/program.js';
import { FunctionTable } from './function-table.js';
import { IntList, type IntRange } from './int-list.js';
import { apart } from './module-texts.js';
import { SeedTable } from './seed-table.js';
import { VariableTable } from './variable-table.js';

export type ValueId = number;
export type OpId = number;
export type FunctionId = number;
export type CallId = number;
export type AtomId = number;

export const NOTHING: ValueId = 0;
export const ANY_PROPERTY: AtomId = 0;

/** Operations. `a`, `b`, `c`, `d` are the columns that each one uses. */
export const Op = {
  /** b receives what a holds; d > 0 where this may not be executed */
  copy: 0,
  /** b receives property c of a; d = 1 where it iterates over a */
  load: 1,
  /** property c of a receives b; d = 1 where this makes a new object (literals, classes) and changes nothing that existed */
  store: 2,
  /** b receives the result of calling a with receiver c; d is the call */
  call: 3,
  /** b receives the result of calling method c of a; d is the call */
  method: 4,
  /** b receives the result of `new a`; d is the call */
  construct: 5,
  /** variable a is read */
  read: 6,
  /** variable a is bound to another value */
  write: 7,
  /** the function returns a */
  return: 8,
  /** b receives what the promise a resolves to */
  await: 9,
  /** all properties of a are copied to b (spread, Object.assign); d = 1 where b is new */
  copyProperties: 10,
  /** something that analysis cannot follow; d is an `Opaque` */
  opaque: 11,
  /** a module is loaded, perhaps not before the app serves; c is the entry of `lateLoads` for it */
  loadLate: 12,
} as const;

export const Opaque = { eval: 1, with: 2, globalWrite: 3 } as const;

export const FunctionFlag = {
  async: 1,
  generator: 2,
  arrow: 4,
  classConstructor: 8,
  /** written in place as an argument, initialiser or property; not a declaration */
  expression: 16,
  usesThis: 32,
  usesArguments: 64,
  /** takes functions and gives a function that calls them: analysed once per call (asyncHandler(fn)) */
  wrapper: 128,
  method: 256,
  /** a method of an object literal */
  inObject: 512,
  /** gives new objects without functions of its own in them: analysed once per call (groupBy(rows)) */
  factory: 1024,
  /** gives functions that hold what it is given: analysed once per call that gives it objects (makeController({ users })) */
  holder: 2048,
  /** all that it does with `arguments` is `fn.apply(this, arguments)` */
  passesArgumentsOn: 4096,
} as const;

export type AwaitForm =
  /** `const pattern = await x;` */
  | 'declaration'
  /** `target = await x;` */
  | 'assignment'
  /** `await x;` */
  | 'statement'
  /** the await is somewhere inside the statement, which stays whole: loops, branches, expressions, `for await` */
  | 'inside';

/** A place where the straight line of an async function can be cut: everything behind `end` is the next segment. */
export interface AwaitCut {
  readonly form: AwaitForm;
  readonly insideLoop: boolean;
  readonly awaitStart: number;
  readonly statementStart: number;
  readonly statementEnd: number;
  /** The declared pattern or the assigned target; empty for other forms. */
  readonly targetStart: number;
  readonly targetEnd: number;
  readonly argumentStart: number;
  readonly argumentEnd: number;
  readonly calleeStart: number;
  readonly calleeEnd: number;
  /** Bodies of the `try` statements that the cut lies in, outermost first. */
  readonly tries: readonly TryRange[];
  /** True where nothing is executed behind the cut. */
  readonly last: boolean;
}

export interface TryRange {
  readonly start: number;
  readonly blockEnd: number;
  readonly end: number;
}

export interface FunctionFact {
  readonly id: FunctionId;
  /** The function around it; the module's top level has none. */
  readonly parent: FunctionId;
  readonly module: number;
  readonly start: number;
  readonly end: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  readonly name: string;
  flags: number;
  /** Variables of plain parameters; a pattern has a value of its own. */
  params: readonly ValueId[];
  /** Its `length`: parameters before the first that has a default or is a rest. */
  arity: number;
  /** Index of the rest parameter, or -1. */
  rest: number;
  readonly self: ValueId;
  readonly receiver: ValueId;
  readonly result: ValueId;
  cuts: readonly AwaitCut[];
  /** What `arguments` is, if the function uses it. */
  list: ValueId;
  opStart: number;
  opEnd: number;
  valueStart: number;
  valueEnd: number;
  functionEnd: FunctionId;
  /** The segment of the parent in which this function's closure is made. */
  readonly parentSegment: number;
  /** The function that this one is a copy of, made for one call of a wrapper; itself otherwise. */
  readonly origin: FunctionId;
}

export interface ModuleFact {
  readonly index: number;
  /** Given when all modules are known, as it is relative to the folder that holds them. */
  id: ModuleId;
  readonly file: string;
  /** Of a large program it may be read again each time that somebody asks: not to be held. */
  readonly text: string;
  /** The package that it is a module of; null for the app's own. */
  readonly owner: string | null;
  readonly kind: 'commonjs' | 'module';
  readonly top: FunctionId;
  /** CommonJS: the values of `module` and of the initial `exports`; ES modules: `exports` is the namespace. */
  readonly module: ValueId;
  readonly exports: ValueId;
  readonly lineStarts: IntRange;
  /** Offset behind hashbang and directives, where a prelude can go. */
  readonly codeStart: number;
}

export const VariableKind = {
  local: 0,
  parameter: 1,
  import: 2,
  function: 3,
  class: 4,
  arguments: 5,
  this: 6,
  global: 7,
  module: 8,
};

/** A variable is a value with a name. */
export interface VariableFact {
  readonly value: ValueId;
  readonly name: string;
  /** The function that declares it; -1 for globals. */
  readonly owner: FunctionId;
  /** The segments of the owner in which it is declared: several for code of a `catch`, which each of them may run. */
  readonly segment: number;
  readonly segmentFrom: number;
  readonly module: number;
  readonly start: number;
  readonly kind: number;
  /** The innermost loop around its declaration, if it is made anew in each round; 0 is none. */
  readonly loop: number;
  readonly constant: boolean;
}

/** `value.length` compared with a number: it holds where the value can be a function of which it does. */
export interface Guard {
  readonly value: ValueId;
  readonly test: '===' | '!==' | '<' | '>=' | '>' | '<=';
  readonly count: number;
}

export type TokenSeed =
  | { readonly kind: 'function'; readonly value: ValueId; readonly fn: FunctionId; readonly guard: Guard | null }
  | {
      readonly kind: 'object';
      readonly value: ValueId;
      readonly type: string;
      readonly start: number;
      readonly fn: FunctionId;
    }
  | { readonly kind: 'global'; readonly value: ValueId; readonly name: string };

export interface FactsMark {
  readonly columns: readonly number[];
  readonly functions: number;
  readonly values: number;
}

export class Facts {
  // Ops, one entry in each column.
  readonly kind = new IntList(4096);
  readonly a = new IntList(4096);
  readonly b = new IntList(4096);
  readonly c = new IntList(4096);
  readonly d = new IntList(4096);
  readonly position = new IntList(4096);
  readonly owner = new IntList(4096);
  /** Segment of the owner in which the op runs, and (above it) how many lie between the first one in which it may run and that: mostly none.
   *  In one byte each; where that is not enough, in two, and inverted. */
  readonly #segment = new IntList(4096);
  /** The innermost loop around it, or 0. */
  readonly loop = new IntList(4096);

  // Calls: arguments in one list.
  readonly callFirst = new IntList(1024);
  readonly callCount = new IntList(1024);
  readonly callSpread = new IntList(1024);
  readonly calleeStart = new IntList(1024);
  readonly calleeEnd = new IntList(1024);
  readonly callEnd = new IntList(1024);
  readonly callOp = new IntList(1024);
  readonly args = new IntList(2048);
  readonly argStart = new IntList(2048);
  readonly argEnd = new IntList(2048);

  readonly #functions = new FunctionTable();
  readonly functions: readonly FunctionFact[] = this.#functions.all;
  readonly modules: ModuleFact[] = [];
  /** Of all modules, one behind the other. */
  readonly lineStarts = new IntList(1024);
  /** Some modules are packages', not the app's own. */
  hasPackages = false;
  readonly variables = new VariableTable();
  /** Values of names that no module declares: one each for the whole program. */
  readonly globals = new Set<ValueId>();
  /** For each `require` and `import()` that start-up may not come by: the top-level code that it runs, null where nobody
   *  knows; empty where the module is there in any case. */
  readonly lateLoads: (readonly FunctionId[] | null)[] = [];
  readonly seeds = new SeedTable();
  /** Loads, stores and method calls whose property is named by a variable (`instance[key]`): that variable. */
  readonly keys = new Map<OpId, ValueId>();
  /** Literal strings by value, for the few that matter: arguments of calls. */
  readonly strings = new Map<ValueId, string>();
  /** Constants that hold a text, a number or the like, and no object: `const TABLE = 'books'`, `const SECRET = process.env.SECRET` (`lowering/plain.ts`). */
  readonly plain = new Set<ValueId>();
  /** Variables that get what is read of `process.env`, and by which op, while modules are loaded: plain, if nothing puts another object there. */
  readonly ofEnvironment = new Map<ValueId, OpId>();
  replacesEnvironment = false;
  readonly loopParents = new IntList(64);
  /** Classes: constructor function by the class's value, with the value of what it extends. */
  readonly classes = new Map<FunctionId, { readonly superclass: ValueId }>();

  valueCount = 1;
  /** What is thrown anywhere, and so may be caught anywhere; errors made in place are left out. */
  readonly thrown: ValueId = this.valueCount++;
  /** Errors that are made where they are thrown. */
  readonly thrownNew: ValueId = this.valueCount++;
  #atoms = new Map<string, AtomId>([['*', 0]]);
  #atomNames: string[] = ['*'];
  readonly #words = new Map<string, string>();

  constructor() {
    this.loopParents.push(0);
  }

  addFunction(fn: FunctionFact): FunctionFact {
    return this.#functions.add(fn);
  }

  newValue(): ValueId {
    return this.valueCount++;
  }

  newLoop(parent: number): number {
    return this.loopParents.push(parent);
  }

  /** One string for all that are the same: as the parser gives them, each holds the text that it stands in. */
  word(words: string): string {
    let known = this.#words.get(words);
    if (known === undefined) {
      known = apart(words);
      this.#words.set(known, known);
    }
    return known;
  }

  /** All modules are there: from now on names come from elsewhere, one at a time. */
  forgetWords(): void {
    this.#words.clear();
  }

  atom(name: string): AtomId {
    let id = this.#atoms.get(name);
    if (id === undefined) {
      const own = this.word(name);
      id = this.#atomNames.length;
      this.#atomNames.push(own);
      this.#atoms.set(own, id);
    }
    return id;
  }

  /** The atom of a name that occurs in the program, else undefined. */
  knownAtom(name: string): AtomId | undefined {
    return this.#atoms.get(name);
  }

  atomName(atom: AtomId): string {
    return this.#atomNames[atom] as string;
  }

  pushOp(
    kind: number,
    a: number,
    b: number,
    c: number,
    d: number,
    position: number,
    owner: FunctionId,
    segments: number,
    loop: number,
  ): OpId {
    this.a.push(a);
    this.b.push(b);
    this.c.push(c);
    this.d.push(d);
    this.position.push(position);
    this.owner.push(owner);
    const last = segments & 0xffff;
    const between = last - (segments >>> 16);
    this.#segment.push((last | between) < 0x80 ? last | (between << 8) : ~(last | (between << 16)));
    this.loop.push(loop);
    return this.kind.push(kind);
  }

  /** Segment of the owner in which the op runs, and (high half) the first one in which it may run. */
  segmentOf(op: OpId): number {
    const packed = this.#segment.get(op);
    const last = packed < 0 ? ~packed & 0xffff : packed & 0xff;
    return last | ((last - (packed < 0 ? ~packed >>> 16 : packed >>> 8)) << 16);
  }

  /** How much there is, so that what is added from now on can be taken back. */
  mark(): FactsMark {
    return {
      columns: this.#columns().map(({ length }) => length),
      functions: this.functions.length,
      values: this.valueCount,
    };
  }

  /** Takes back copies of functions, and values made while origins were found. */
  restore({ columns, functions, values }: FactsMark): void {
    for (const [index, column] of this.#columns().entries()) column.length = columns[index] as number;
    this.#functions.restore(functions);
    this.valueCount = values;
    this.variables.restore(values);
    for (const id of this.strings.keys()) if (id >= values) this.strings.delete(id);
    for (const op of this.keys.keys()) if (op >= this.kind.length) this.keys.delete(op);
    for (const id of this.classes.keys()) if (id >= functions) this.classes.delete(id);
  }

  /** From now on only places are asked for: all is decided, and what was decided from takes as much room as what is written of it. */
  keepPlaces(): void {
    for (const column of this.#columns()) if (column !== this.position && column !== this.owner) column.clear();
    this.seeds.clear();
    this.keys.clear();
    this.strings.clear();
  }

  /** All modules are loaded. Node makes a text of whatever is put into `process.env`, as long as it is Node's own. */
  settleEnvironment(): void {
    for (const [variable, op] of this.replacesEnvironment ? [] : this.ofEnvironment) {
      this.a.set(op, NOTHING);
      this.plain.add(variable);
    }
    this.ofEnvironment.clear();
  }

  #columns(): readonly IntList[] {
    const ops = [this.kind, this.a, this.b, this.c, this.d, this.position, this.owner, this.#segment, this.loop];
    const calls = [this.callFirst, this.callCount, this.callSpread, this.calleeStart, this.calleeEnd, this.callEnd];
    return [...ops, ...calls, this.callOp, this.args, this.argStart, this.argEnd];
  }

  argument(call: CallId, index: number): ValueId {
    return index < this.callCount.get(call) ? this.args.get(this.callFirst.get(call) + index) : NOTHING;
  }

  fn(id: FunctionId): FunctionFact {
    return this.functions[id] as FunctionFact;
  }

  /** The function stands in the code of a package. */
  isOfPackage(id: FunctionId): boolean {
    return this.moduleOf(id).owner !== null;
  }

  moduleOf(id: FunctionId): ModuleFact {
    return this.modules[this.fn(id).module] as ModuleFact;
  }
}
