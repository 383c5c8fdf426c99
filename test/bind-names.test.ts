import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'ava';
import type { Scope, Variable } from 'escope';
import type * as es from 'estree';
import { bindNames } from '../syntax/bind-names.js';
import { analyze, parseWithRanges, type SourceType } from '../syntax/parser.js';

// The names of a program are bound as eslint-scope binds them, which takes more time and memory for it.

const script = `
function f(a = b, { c = a, [d()]: e = () => e } = {}, ...[g, h]) {
  var b = 1, a; var arguments; { function c() {} let e = a; }
  try { x } catch ({ m, n = b }) { var m2 = m; }
  try {} catch (q) { var q = 1; q++; { let q; q = 2 } }
}
var foo; (function self(self2) { self(); return function () { self; self2; new.target; }; });
class A extends (class B extends A { static x = B; }) {
  #p = 1; ['k' + A] = A; static { var z = A; let y = z; function inner() { return y; } }
  m() { return super.m(this.#p, A, arguments); } static s = () => A; get [foo]() { return foo }
}
for (let i = 0, n = i; i < n; i++) { setTimeout(() => i); var i2 = i; }
for (const [k1, v1 = k1] of foo) v1; for (var w in foo) w; for (foo.x of y) ; for ([foo, bar.z = foo] of y); for (let u of u) ;
switch (foo) { case bar: let sw = 1; function sf() { return sw } default: sw; }
lab: for (;;) { break lab; }
({ foo, bar: foo, [foo]: foo.x } = foo);
({ foo, m() { arguments.length; }, async *g() { yield* foo; await bar }, get x() { return x } });
[foo.bar, foo[bar], ...foo] = [1]; foo += 1; foo ||= bar; foo.x ??= bar; [foo = bar] = []; ({ foo = 1, ...bar } = {});
\`\${foo}\${function () { return foo }}\`; foo\`x\${bar}\`; foo?.[bar]?.(baz); new foo(bar); typeof und; delete foo.x; foo, bar; import(foo);
(async () => { for await (const x of foo) await x; })();
var counted = function () { var a = arguments; if (a.length) return arguments.length; }; arguments;
function dup(a, a) { return a; } if (1) function ann() {} { function ann2() { ann2 } } ann2();
function args2(arguments) { return arguments } function args3() { { let arguments = 1; arguments } arguments.length }
`;

/** What `eval` declares may have any name. */
const dynamic = `
var foo;
function k(p = arguments.length, r = () => arguments[0], s = 1) { var t = 1; return eval('p') + (() => arguments)() + t; }
with (obj) { foo; var bar = baz; (function () { return bar + arguments.length; }) }
const C = class D { d = D; e = eval('1'); static f() { return D; } };
function ev() { var loc; return () => { eval(x); return loc + arguments[0]; } }
`;

const module = `
import d, { a as b, c } from 'x'; import * as ns from 'y' with { type: 'json' };
export { b as bb, c }; export default function () { return d + ns.x; }
export const [e, { f = e }] = c; export class G extends d {}
export * from 'z'; export { q } from 'q'; export * as r from 'r';
let h = await b; export let i = () => h, j; import.meta.url;
`;

test('scripts', (t) => {
  const [ours, theirs] = both(script, 'commonjs');
  t.true(ours.includes('arguments'));
  t.is(ours, theirs);
});

test('eval and with', (t) => {
  const [ours, theirs] = both(dynamic, 'commonjs');
  t.true(ours.includes('arguments'));
  t.is(ours, theirs);
});

test('modules', (t) => {
  const [ours, theirs] = both(module, 'module');
  t.is(ours, theirs);
});

test('a package', (t) => {
  const folder = path.dirname(createRequire(import.meta.url).resolve('express'));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  t.true(files.length > 0);
  for (const file of files) {
    const [ours, theirs] = both(readFileSync(path.join(folder, file), 'utf8'), 'commonjs');
    t.is(ours, theirs);
  }
});

/** A line for each variable, in order, and for each identifier the line of the one that it means. */
function both(text: string, kind: SourceType): readonly [string, string] {
  const tree = parseWithRanges(text, kind);
  const scopesOf = scopesByOwner(tree, kind, text);
  return [ourLines(tree, kind, text, [...scopesOf.keys()]), theirLines(scopesOf)];
}

function ourLines(tree: es.Program, kind: SourceType, text: string, owners: readonly es.Node[]): string {
  const numberAt = new Int32Array(text.length + 1);
  const names = bindNames(tree, kind, numberAt);
  const lines: string[] = [];
  const lineOf = new Map<number, number>();
  for (const scope of owners.flatMap((owner) => names.scopesOf(owner))) {
    for (const { name, number, definition, constant, declared, captured, usesOfArguments } of scope.variables) {
      const uses = definition === 'arguments' ? usesOfArguments : null;
      if (uses?.length === 0) continue;
      const places = uses === null ? declared : uses.toSorted((a, b) => a - b);
      const line = lines.push([name, definition, places, captured, constant, scope.ofClass !== null].join(' '));
      lineOf.set(number, line);
    }
  }
  const means = [...numberAt].flatMap((number, offset) => (number === 0 ? [] : [`${offset}: ${lineOf.get(number)}`]));
  return [...lines, ...means].join('\n');
}

function theirLines(scopesOf: ReadonlyMap<es.Node, readonly EachScope[]>): string {
  const lines: string[] = [];
  const meant = new Map<number, number>();
  for (const [owner, scopes] of scopesOf) {
    for (const { scope, usesOf } of scopes) {
      for (const variable of scope.variables) {
        const uses = usesOf(variable);
        const isArguments = variable.name === 'arguments' && variable.identifiers.length === 0;
        if (isArguments && uses.length === 0) continue;
        const places = isArguments
          ? uses.map(({ identifier }) => identifier.range?.[1] ?? 0).toSorted((a, b) => a - b)
          : variable.identifiers.map(startOf);
        const captured = uses.some(({ from }) => ownerOf(from) !== owner);
        const line = lines.push(
          [variable.name, definitionOf(variable), places, captured, isConstant(variable), scope.type === 'class'].join(
            ' ',
          ),
        );
        if (scope.type !== 'class') for (const node of variable.identifiers) meant.set(startOf(node), line);
        for (const { identifier } of uses) meant.set(identifier.range?.[0] ?? -1, line);
      }
    }
  }
  const means = [...meant].sort(([a], [b]) => a - b).map(([offset, line]) => `${offset}: ${line}`);
  return [...lines, ...means].join('\n');
}

interface EachScope {
  readonly scope: Scope;
  usesOf(variable: Variable): Variable['references'];
}

function scopesByOwner(tree: es.Program, kind: SourceType, text: string): ReadonlyMap<es.Node, readonly EachScope[]> {
  const { scopes } = analyze(tree, { ecmaVersion: 2025, sourceType: kind as 'commonjs' | 'module' });
  const unresolved = new Map<Variable, Variable['references']>();
  // Around `eval` and `with` nothing is resolved: there it is what the text says that counts.
  for (const scope of /\beval\b|\bwith\b/.test(text) ? scopes : []) {
    for (const reference of scope.references) {
      if (reference.resolved !== null || reference.identifier.type !== 'Identifier') continue;
      for (let at: Scope | null = scope; at !== null && at.type !== 'global'; at = at.upper) {
        const variable = at.set.get(reference.identifier.name);
        if (variable === undefined) continue;
        unresolved.set(variable, [...(unresolved.get(variable) ?? []), reference]);
        break;
      }
    }
  }
  const usesOf = (variable: Variable): Variable['references'] => [
    ...variable.references,
    ...(unresolved.get(variable) ?? []),
  ];
  const found = new Map<es.Node, EachScope[]>();
  for (const scope of scopes) {
    if (scope.type === 'global') continue;
    const owner = ownerOf(scope);
    found.set(owner, [...(found.get(owner) ?? []), { scope, usesOf }]);
  }
  return found;
}

function ownerOf(scope: Scope): es.Node {
  if (scope.type === 'function-expression-name') return scope.block;
  let at = scope.variableScope;
  while (/^class-/.test(at.type) && at.upper !== null) at = at.upper.variableScope;
  return at.block;
}

function definitionOf({ name, identifiers, defs: [first] }: Variable): string {
  if (name === 'arguments' && identifiers.length === 0) return 'arguments';
  const known = { Parameter: 'parameter', ImportBinding: 'import', FunctionName: 'function', ClassName: 'class' };
  return known[first?.type as keyof typeof known] ?? 'local';
}

function isConstant({ defs: [first] }: Variable): boolean {
  return first?.parent?.type === 'VariableDeclaration' && first.parent.kind === 'const';
}

function startOf(node: es.Node): number {
  return node.range?.[0] ?? -1;
}
