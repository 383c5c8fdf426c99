import test from 'ava';
import { goesByItsParameters } from '../runtime/link/text-function.js';

// Functions that were made from text: which go by nothing but what they are called with.

const FREE = [
  'return 1',
  '"use strict"\n  return "" +\n    (a["remote-addr"](b, c) || "-") + " [" +\n    (a["date"](b, c, "clf") || "-") + "]"',
  "return (a['x'](b)) ? \"it's\" : 'no = `x` /* y */'",
  'return a["constant"] + b.c.d',
];

const BOUND = [
  'return n',
  'return globalThis.n',
  'n = 1; return n',
  'a["x"] = 1; return a',
  'return a["n"]++',
  'return --a["n"]',
  'return a[b](c)',
  'return a["constructor"]("return 1")()',
  'return a["con" + "structor"]',
  'return b.list.push(c)',
  'return (b.list.push)(c)',
  'return a["x"](b)(c)',
  'return a(b)',
  'return `n`',
  'return /n/.test(n)',
  'return this',
  'return () => n',
  'return (() => a)()',
  'delete a["x"]; return 1',
  'return eval("n")',
  'return "" // n\n + n',
  'return a["x"](b) /* " */ + n /* " */',
  'return arguments["0"]',
];

for (const text of FREE)
  test(`goes by its parameters: ${text}`, (t) => {
    t.true(goesByItsParameters(new Function('a, b, c', text)));
  });

for (const text of BOUND)
  test(`may go by something else: ${text}`, (t) => {
    t.false(goesByItsParameters(new Function('a, b, c', text)));
  });

test('what was written in a file is not made from text', (t) => {
  t.false(goesByItsParameters(() => 1));
  t.false(goesByItsParameters(Math.max));
});
