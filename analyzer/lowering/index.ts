/**
 * Reads:   a parsed module.
 * Gives:   its ops and values, appended to the program's facts, and what it asks other modules for.
 */

import type { ModuleId } from '../../flx/program.js';
import { bindNames } from '../../syntax/bind-names.js';
import type { Facts, FunctionId, ModuleFact, ValueId } from '../facts.js';
import { type IntList, IntRange } from '../int-list.js';
import type { ReadText } from '../module-texts.js';
import type { Parsed } from '../parse.js';
import { type DynamicLoad, type ExportAll, type LoadRequest, LoweringContext, type ShownExport } from './context.js';
import { lowerBody } from './statements.js';

export interface LoweredModule {
  readonly fact: ModuleFact;
  readonly loads: readonly LoadRequest[];
  readonly dynamicLoads: readonly DynamicLoad[];
  readonly exportAlls: readonly ExportAll[];
  readonly exportBindings: ReadonlyMap<string, ValueId>;
  readonly shown: readonly ShownExport[];
  /** What its top level throws where nothing in it catches that; who loads it may. */
  readonly uncaught: ValueId;
}

class LoweredFact implements ModuleFact {
  readonly index: number;
  id: ModuleId;
  readonly file: string;
  readonly owner: string | null;
  readonly kind: ModuleFact['kind'];
  readonly top: FunctionId;
  readonly module: ValueId;
  readonly exports: ValueId;
  readonly lineStarts: IntRange;
  readonly codeStart: number;
  readonly #again: () => string;

  constructor(again: () => string, fact: Omit<ModuleFact, 'text'>) {
    this.index = fact.index;
    this.id = fact.id;
    this.file = fact.file;
    this.owner = fact.owner;
    this.kind = fact.kind;
    this.top = fact.top;
    this.module = fact.module;
    this.exports = fact.exports;
    this.lineStarts = fact.lineStarts;
    this.codeStart = fact.codeStart;
    this.#again = again;
  }

  get text(): string {
    return this.#again();
  }
}

/** Space that lowering needs for one module at a time. */
export class LoweringScratch {
  readonly globals = new Map<string, ValueId>();
  #numberAt = new Int32Array(1 << 16);

  /** Zeros. */
  numberAt(length: number): Int32Array {
    if (this.#numberAt.length < length) this.#numberAt = new Int32Array(length);
    else this.#numberAt.fill(0, 0, length);
    return this.#numberAt;
  }
}

export function lowerModule(
  facts: Facts,
  scratch: LoweringScratch,
  source: ReadText & { readonly file: string; readonly owner: string | null },
  parsed: Parsed,
): LoweredModule {
  const { tree, kind, inPieces } = parsed;
  const numberAt = scratch.numberAt(source.text.length + 1);
  const context = new LoweringContext({
    facts,
    file: source.file,
    text: source.text,
    kind,
    moduleIndex: facts.modules.length,
    names: inPieces?.bind(numberAt) ?? bindNames(tree, kind, numberAt),
    numberAt,
    globals: scratch.globals,
  });
  const top = context.newFunction(
    { start: 0, end: source.text.length, bodyStart: 0, bodyEnd: source.text.length, name: 'main', flags: 0 },
    null,
  );
  context.inside(top, () => {
    context.declareVariables(tree, top);
    context.state.straight = false;
    makeModuleObjects(context);
    lowerBody(context, tree.body);
    if (kind === 'commonjs') exposeExports(context);
  });
  const fact = new LoweredFact(source.again, {
    index: context.moduleIndex,
    id: source.file,
    file: source.file,
    owner: source.owner,
    kind,
    top: top.id,
    module: context.moduleValue,
    exports: context.exportsValue,
    lineStarts: lineStartsOf(source.text, facts.lineStarts),
    codeStart: codeStart(source.text, tree.body as unknown as readonly { directive?: string; end: number }[]),
  });
  facts.modules.push(fact);
  if (source.owner !== null) facts.hasPackages = true;
  const { loads, dynamicLoads, exportAlls, exportBindings, shown, uncaught } = context;
  const word = (name: string): string => facts.word(name);
  return {
    fact,
    loads: loads.map((load) => ({
      ...load,
      specifier: word(load.specifier),
      binding: load.binding === null ? null : word(load.binding),
    })),
    dynamicLoads,
    uncaught,
    exportAlls: exportAlls.map((all) => ({ ...all, specifier: word(all.specifier) })),
    exportBindings: new Map([...exportBindings].map(([name, value]) => [word(name), value])),
    shown: shown.map((each) => ({ ...each, name: word(each.name) })),
  };
}

function makeModuleObjects(context: LoweringContext): void {
  context.exportsValue = context.object('Object', 0);
  if (context.kind !== 'commonjs') {
    if (!context.text.includes('import.meta')) return;
    context.metaValue = context.object('Object', 0);
    context.declareOwn(context.metaValue, 'import.meta');
    return;
  }
  context.moduleValue = context.object('Object', 0);
  context.declareOwn(context.exportsValue, 'exports');
  context.declareOwn(context.moduleValue, 'module');
  // At the top of a CommonJS module `this` is its first exports object.
  context.copy(context.exportsValue, context.state.fact.receiver, 0);
}

/** `module.exports` is the first `exports` object, unless the module puts another in its place and never uses that one. */
function exposeExports(context: LoweringContext): void {
  if (context.assignsModuleExports && !context.usesExports) return;
  context.store(context.moduleValue, 'exports', context.exportsValue, true, 0);
}

function lineStartsOf(text: string, all: IntList): IntRange {
  const first = all.push(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) all.push(at + 1);
  return new IntRange(all, first);
}

function codeStart(text: string, body: readonly { directive?: string; end: number }[]): number {
  let start = 0;
  if (text.startsWith('#!')) {
    const end = text.indexOf('\n');
    start = end === -1 ? text.length : end;
  }
  for (const statement of body) {
    if (statement.directive === undefined) break;
    start = statement.end;
  }
  return start;
}
