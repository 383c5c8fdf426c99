/**
 * Async functions that a compiler has made into generators, for a Node that had none: TypeScript up to ES2016, which is what
 * `tsc --init` asks for, esbuild, Babel and swc.
 *
 *     return __awaiter(this, void 0, void 0, function* () { const user = yield find(id); … });
 *     return __awaiter(this, void 0, void 0, function () { return __generator(this, function (_a) { switch (_a.label) { … } }); });
 *
 * Reads:   a tree, and its text.
 * Gives:   the same tree, in which these are async functions again. Taken as any code, the helper would be one function that
 *          steps through all of them.
 */
import type * as es from 'estree';
import type { Offsets } from '../syntax/parser.js';
import { emptyUnused, isNode, nodesIn } from './restore-helpers.js';
import { restoreSteps } from './restore-steps.js';

/** Its text is that of a generator, so it is not cut: what was copied out of it would not be async. */
export interface RestoredFunction extends es.FunctionExpression {
  isRestored: true;
}

type Helper =
  /** `__awaiter(this, arguments, Promise, function* () { … })` runs the function. */
  | 'run'
  /** `_asyncToGenerator(function* () { … })` gives one that does. */
  | 'wrap';

const helpers = new Map<string, { readonly helper: Helper; readonly made: RegExp }>([
  [
    '__awaiter',
    {
      helper: 'run',
      made: /function\s*\(thisArg, _arguments, P, generator\)|\bfrom\s*["']tslib["']|\brequire\(["']tslib["']\)/,
    },
  ],
  ['__async', { helper: 'run', made: /\b__async = \(__this, __arguments, generator\) =>/ }],
  [
    '_asyncToGenerator',
    { helper: 'wrap', made: /\bfunction _asyncToGenerator\(|@babel\/runtime\/helpers\/(esm\/)?asyncToGenerator/ },
  ],
  ['_async_to_generator', { helper: 'wrap', made: /\bfunction _async_to_generator\(|@swc\/helpers\// }],
]);

export function usesAsyncHelpers(text: string): boolean {
  return listUsed(text).length > 0;
}

function listUsed(text: string): readonly string[] {
  return [...helpers].filter(([name, { made }]) => text.includes(name) && made.test(text)).map(([name]) => name);
}

export function restoreAsync(tree: es.Program, text: string): void {
  const used = new Set(listUsed(text));
  if (used.size === 0) return;
  let free = '_sent';
  while (text.includes(free)) free += '_';
  for (const node of nodesIn(tree)) if (node.type === 'CallExpression') restoreCall(node, used, free);
  for (const name of [...used, '__generator', 'asyncGeneratorStep']) if (text.includes(name)) emptyUnused(tree, name);
}

function restoreCall(call: es.SimpleCallExpression, used: ReadonlySet<string>, free: string): void {
  const name = helperName(call.callee);
  const known = name === null || !used.has(name) ? undefined : helpers.get(name);
  const last = call.arguments.at(-1);
  if (known === undefined || last?.type !== 'FunctionExpression' || last.async) return;
  const given = known.helper === 'run' ? listGiven(call) : [];
  if ((known.helper === 'wrap' && call.arguments.length !== 1) || given === null) return;
  if (last.generator) {
    const yields = listYields(last.body);
    if (yields === null) return;
    for (const each of yields) Object.assign(each, { type: 'AwaitExpression', delegate: undefined });
    const restored = asAsync(last);
    if (known.helper === 'wrap') replace(call, restored);
    else callWith(call, restored, given);
  } else if (known.helper === 'run' && runsSteps(last, free)) callWith(call, last, given);
}

function asAsync(node: es.FunctionExpression): RestoredFunction {
  return Object.assign(node, { async: true, generator: false, isRestored: true as const });
}

/** A function that declares variables, and gives a generator of steps that use them. */
function runsSteps(around: es.FunctionExpression, free: string): boolean {
  const last = around.body.body.at(-1);
  const made = last?.type === 'ReturnStatement' ? last.argument : null;
  if (made?.type !== 'CallExpression' || helperName(made.callee) !== '__generator') return false;
  const [self, steps, ...others] = made.arguments;
  if (self?.type !== 'ThisExpression' || steps?.type !== 'FunctionExpression' || others.length > 0) return false;
  if (!restoreSteps(steps, free)) return false;
  callWith(made as es.SimpleCallExpression, asAsync(steps), [self]);
  return true;
}

/** The call becomes the function. */
function replace(call: es.SimpleCallExpression, restored: RestoredFunction): void {
  Object.assign(call, { callee: undefined, arguments: undefined, optional: undefined }, restored);
}

/** `(async function () { … }).call(this)` */
function callWith(
  call: es.SimpleCallExpression,
  restored: es.FunctionExpression,
  given: es.SimpleCallExpression['arguments'],
): void {
  const { start, end } = restored as unknown as Offsets;
  const name = given[1]?.type === 'Identifier' && given[1].name === 'arguments' ? 'apply' : 'call';
  const property = { type: 'Identifier' as const, name, start, end };
  const callee = { type: 'MemberExpression' as const, object: restored, property, computed: false, optional: false };
  call.callee = { ...callee, ...{ start, end } };
  call.arguments = given;
}

/** What the function is called with: `this`, and its arguments, or all of them as `arguments`. Null where a promise of another kind is asked for. */
function listGiven({
  arguments: [self, list, kind, ...rest],
}: es.SimpleCallExpression): es.SimpleCallExpression['arguments'] | null {
  if (self === undefined || list === undefined || self.type === 'SpreadElement') return null;
  // esbuild's has no third argument but the function.
  if (rest.length > 0 && !(isNothing(kind) || (kind?.type === 'Identifier' && kind.name === 'Promise'))) return null;
  if (isNothing(list)) return [self];
  if (list.type === 'ArrayExpression')
    return list.elements.every((one) => one !== null) ? [self, ...list.elements] : null;
  return list.type === 'Identifier' && list.name === 'arguments' ? [self, list] : null;
}

function isNothing(node: es.Node | undefined): boolean {
  if (node?.type === 'UnaryExpression') return node.operator === 'void' && node.argument.type === 'Literal';
  return node?.type === 'Literal' && node.value === null;
}

function helperName(callee: es.Node): string | null {
  if (callee.type === 'SequenceExpression') return helperName(callee.expressions.at(-1) as es.Node);
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return null;
  if (callee.property.type !== 'Identifier') return null;
  const { name } = callee.object;
  if (/^_?tslib(_\d+)?$/.test(name)) return callee.property.name;
  if (!/^(default|_)$/.test(callee.property.name)) return null;
  return name.replace(/\d+$/, '');
}

/** Those of the function itself. Null where it does more than wait. */
function listYields(body: es.BlockStatement): es.YieldExpression[] | null {
  const found: es.YieldExpression[] = [];
  const waiting: object[] = [body];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (isNode(value) && /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(value.type))
      continue;
    if (isNode(value) && value.type === 'YieldExpression') {
      if (value.delegate || !value.argument) return null;
      found.push(value);
    }
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
  return found;
}
