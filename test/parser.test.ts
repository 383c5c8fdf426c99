/** Large texts are parsed with lists that are no longer than they have to be: what comes out is the same tree. */
import test from 'ava';
import { parse as parseAsIs } from 'espree';
import { parse } from '../syntax/parser.js';

const piece = `function add(a, { b, c = [1, , a] }, ...rest) {
  var x = 1, y;
  ({ x, y: [y], ...rest[0] } = new Map([[a, b]], c), x);
  return ((d, e) => { call(); call(d, ...e, x, y); })(async (f) => f, [b, c]);
}
`;
const large = piece.repeat(Math.ceil(600_000 / piece.length));
const options = { ecmaVersion: 'latest', sourceType: 'commonjs' } as const;

test('a large text has the tree that espree gives', (t) => {
  t.deepEqual(JSON.stringify(parse(large, 'commonjs')), JSON.stringify(parseAsIs(large, options)));
});

test('an error in a large text is told as by espree, and the parser is as it was', (t) => {
  const broken = `${large}var = 1;`;
  const { message } = t.throws(() => parseAsIs(broken, options));
  const before = parse(piece, 'commonjs');
  t.throws(() => parse(broken, 'commonjs'), { instanceOf: SyntaxError, message });
  t.deepEqual(parse(piece, 'commonjs'), before);
});
