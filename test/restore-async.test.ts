/** Async functions that compilers have made into generators, as they are parsed. */
import test from 'ava';
import type * as es from 'estree';
import { parse } from '../analyzer/parse.js';

const AWAITER = `var __awaiter = (this && this.__awaiter) || function (thisArg, _arguments, P, generator) {
  return new (P || (P = Promise))(function (resolve, reject) { generator.apply(thisArg, _arguments || []); });
};
`;
const GENERATOR = `var __generator = (this && this.__generator) || function (thisArg, body) { return body.call(thisArg, {}); };
`;

interface Counts {
  readonly async: number;
  readonly generators: number;
  readonly awaits: number;
  readonly yields: number;
  readonly statementsOfHelpers: number;
}

function countIn(text: string): Counts {
  const counts = { async: 0, generators: 0, awaits: 0, yields: 0, statementsOfHelpers: 0 };
  const waiting: object[] = [parse(text, 'commonjs').tree];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if ('type' in value) {
      const node = value as es.Node;
      if (node.type === 'FunctionExpression' && node.async) counts.async++;
      if (node.type === 'FunctionExpression' && node.generator) counts.generators++;
      if (node.type === 'AwaitExpression') counts.awaits++;
      if (node.type === 'YieldExpression') counts.yields++;
      if (node.type === 'VariableDeclarator' && node.init?.type === 'LogicalExpression') {
        const { right } = node.init;
        if (right.type === 'FunctionExpression') counts.statementsOfHelpers += right.body.body.length;
      }
    }
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
  return counts;
}

const RESTORED = { async: 1, generators: 0, yields: 0, statementsOfHelpers: 0 };

test('a generator that is run as an async function is one', (t) => {
  const run = (list: string): string => `${AWAITER}function f(a) { return __awaiter(this, ${list}, function* (a) {
    const own = function* () { yield 1; };
    return yield (yield own(a)).next();
  }); }`;
  for (const list of ['void 0, void 0', 'arguments, void 0', '[a], void 0', 'void 0, Promise'])
    t.deepEqual(countIn(run(list)), { ...RESTORED, awaits: 2, generators: 1, yields: 1 }, list);
});

test('so are the numbered steps of one', (t) => {
  const text = `${AWAITER}${GENERATOR}function f(id) { return __awaiter(this, void 0, void 0, function () {
    var user, error_1, _sent;
    return __generator(this, function (_a) {
      switch (_a.label) {
        case 0: _a.trys.push([0, 2, 3, 4]); return [4 /*yield*/, find(id)];
        case 1: user = _a.sent(); return [3 /*break*/, 4];
        case 2: error_1 = _a.sent(); return [2 /*return*/, error_1];
        case 3: user.used = true; return [7 /*endfinally*/];
        case 4: return [4 /*yield*/, user.name];
        case 5: return [2 /*return*/, _a.sent()];
      }
    });
  }); }`;
  t.deepEqual(countIn(text), { ...RESTORED, awaits: 2 });
});

test('what does more than wait, or gives another kind of promise, is left as it is', (t) => {
  const other = `${AWAITER}function f() { return __awaiter(this, void 0, Later, function* () { yield 1; }); }`;
  const delegating = `${AWAITER}function f() { return __awaiter(this, void 0, void 0, function* () { yield* g(); }); }`;
  for (const text of [other, delegating]) {
    const { async, generators, awaits } = countIn(text);
    t.deepEqual({ async, generators, awaits }, { async: 0, generators: 1, awaits: 0 });
  }
  const steps = (last: string): string => `${AWAITER}${GENERATOR}function f() {
    return __awaiter(this, void 0, void 0, function () { return __generator(this, function (_a) { ${last} }); }); }`;
  for (const last of [
    'return [5 /*yield**/, g()];',
    'use(_a); return [2];',
    'return other;',
    'g(function () { _a.sent(); }); return [2];',
  ])
    t.is(countIn(steps(last)).async, 0, last);
});

test('a helper that somebody else uses as well is code like any other', (t) => {
  const text = `${AWAITER}function f() { return __awaiter(this, void 0, void 0, function* () { yield 1; }); }`;
  t.is(countIn(text).statementsOfHelpers, 0);
  t.true(countIn(`${text} exports.run = __awaiter;`).statementsOfHelpers > 0);
});

test('a function of that name which is not the helper is left alone', (t) => {
  const text =
    'function __awaiter(a, b, c, fn) { return fn; } __awaiter(this, void 0, void 0, function* () { yield 1; });';
  t.is(countIn(text).generators, 1);
});
