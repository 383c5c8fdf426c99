import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { BadInput } from '../diagnostics/bad-input.js';
import { badValue, codes, codesByPhase, moduleNotFound, syntaxError } from '../diagnostics/catalogue.js';
import { codeFrame } from '../diagnostics/code-frame.js';
import { displayPath } from '../diagnostics/display-path.js';
import { InvariantError, invariant, unreachable } from '../diagnostics/invariant.js';
import { nearestWord } from '../diagnostics/nearest-word.js';
import { offsetAt, positionAt } from '../diagnostics/position.js';
import { printDiagnostic } from '../diagnostics/report.js';
import type { Diagnostic, Span } from '../diagnostics/types.js';

/** The span is what stands between « and »; two marks at one place make an empty span. */
function spanOf(marked: string): Span {
  const start = marked.indexOf('«');
  const end = marked.indexOf('»') - 1;
  return { file: 'app.js', text: marked.replace('«', '').replace('»', ''), start, end };
}

function lines(...all: string[]): string {
  return all.join('\n');
}

test('a frame has two lines before, one after, and carets under the span', (t) => {
  const span = spanOf('one\ntwo\nthree\nlet x = «call»(1);\nfive\nsix\n');
  t.is(
    codeFrame(span),
    lines('  2 | two', '  3 | three', '> 4 | let x = call(1);', '    |         ^^^^', '  5 | five'),
  );
});

test('line numbers are aligned', (t) => {
  const span = spanOf(`${'\n'.repeat(7)}eight\nnine«!»\nten`);
  t.is(codeFrame(span), lines('   7 |', '   8 | eight', '>  9 | nine!', '     |     ^', '  10 | ten'));
});

test('tabs are widened alike in the code and above the carets', (t) => {
  t.is(codeFrame(spanOf('\tif (x)\t«y»()')), lines('> 1 |   if (x)  y()', '    |           ^'));
});

test('CRLF, CR and the separators of Unicode end lines and are not shown', (t) => {
  const expected = lines('  1 | a', '> 2 | b', '    | ^', '  3 | c');
  for (const end of ['\r\n', '\r', '\n', '\u2028', '\u2029']) t.is(codeFrame(spanOf(`a${end}«b»${end}c`)), expected);
});

test('wide characters take two carets, marks and joiners none', (t) => {
  t.is(codeFrame(spanOf('x = "漢字" + «"語"»')), lines('> 1 | x = "漢字" + "語"', '    |              ^^^^'));
  t.is(codeFrame(spanOf('«e\u0301»x')), lines('> 1 | e\u0301x', '    | ^'));
  t.is(codeFrame(spanOf('«😀»')), lines('> 1 | 😀', '    | ^^'));
});

test('an empty span has one caret, also at the end of a line and of the file', (t) => {
  t.is(codeFrame(spanOf('ab«»')), lines('> 1 | ab', '    |   ^'));
  t.is(codeFrame(spanOf('ab«»\ncd')), lines('> 1 | ab', '    |   ^', '  2 | cd'));
  t.is(codeFrame(spanOf('ab\n«»')), lines('  1 | ab', '> 2 |', '    | ^'));
});

test('a span over several lines has carets under the first and marks before the others', (t) => {
  const two = spanOf('before\nf(«() => {\n  g();\n}»);\nafter\n');
  t.is(
    codeFrame(two),
    lines('  1 | before', '> 2 | f(() => {', '    |   ^^^^^^^', '> 3 |   g();', '> 4 | });', '  5 | after'),
  );
  const long = spanOf(`«${'line\n'.repeat(100)}»`);
  t.is(codeFrame(long), lines('> 1 | line', '    | ^^^^', '> 2 | line', '> 3 | line'));
});

test('a minified line is cut to a window around the span', (t) => {
  const line = `${'a'.repeat(50_000)}«needle»${'b'.repeat(50_000)}`;
  const [code, carets] = codeFrame(spanOf(line)).split('\n');
  t.true(code!.length < 140, `${code!.length}`);
  t.regex(code!, /^> 1 \| …a+needleb+…$/);
  t.is(code!.indexOf('needle'), carets!.indexOf('^'));
  t.regex(carets!, / \^{6}$/);
});

test('a cut never halves a character', (t) => {
  for (const before of [1000, 1001]) {
    const frame = codeFrame(spanOf(`${'x'.repeat(before % 2)}${'😀'.repeat(before)}«y»${'😀'.repeat(1000)}`));
    t.false(frame.includes('\u{fffd}'), frame);
    t.notThrows(() => encodeURIComponent(frame));
  }
});

test('source cannot send commands to the terminal', (t) => {
  t.false(codeFrame(spanOf('«a»\u001b[2J\u0007\u009b')).includes('\u001b'));
});

test('no span makes a frame fail, and carets stay under the code', (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', '\t', '\n', '\r', '\r\n', '\u2028', '漢', '😀', '\ud800', '') });
  const offset = fc.oneof(fc.integer({ min: -5, max: 50 }), fc.constantFrom(Number.NaN, Infinity, -Infinity, 1.5));
  fc.assert(
    fc.property(text, offset, offset, (source, start, end) => {
      const frame = codeFrame({ file: 'f', text: source, start, end });
      if (source === '') return frame === '';
      return /^> +\d+ \|/m.test(frame) && /^ +\| *\^+$/m.test(frame);
    }),
  );
  t.pass();
});

test('positions and offsets are each other’s reverse', (t) => {
  const source = 'one\r\ntwo\n\nfour\u2028five';
  for (let offset = 0; offset <= source.length; offset++) {
    const { line, column } = positionAt(source, offset);
    t.is(offsetAt(source, line, column), offset);
  }
  t.deepEqual(positionAt(source, 5), { line: 2, column: 1 });
  t.deepEqual(positionAt(source, 999), { line: 5, column: 5 });
  t.is(offsetAt(source, 99, 99), source.length);
});

const NOTE: Diagnostic = {
  code: 'analyzer/callback-unresolved',
  severity: 'note',
  message: 'this callback runs at home, as written',
  lift: 'pass one known function',
  span: spanOf('a\nfs.readFile(path, «handlers[kind]»);'),
};

test('a diagnostic is printed with its place and its frame', (t) => {
  t.is(
    printDiagnostic(NOTE),
    lines(
      'note analyzer/callback-unresolved: this callback runs at home, as written; pass one known function',
      '  app.js:2:19',
      '    1 | a',
      '  > 2 | fs.readFile(path, handlers[kind]);',
      '      |                   ^^^^^^^^^^^^^^',
    ),
  );
});

test('a diagnostic without a lift, without a span, without text', (t) => {
  t.is(printDiagnostic({ ...NOTE, lift: '', span: null }), `note ${NOTE.code}: ${NOTE.message}`);
  const span = { file: 'x.js', text: '', start: 0, end: 0 };
  t.is(printDiagnostic({ ...NOTE, lift: '', span }), `note ${NOTE.code}: ${NOTE.message}\n  x.js`);
  t.is(printDiagnostic({ ...NOTE, message: 'a\nb', lift: '', span: null }), `note ${NOTE.code}: a\n  b`);
});

test('colour changes nothing but the colour', (t) => {
  const coloured = printDiagnostic(NOTE, { colour: true });
  t.true(coloured.includes('\u001b['));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
  t.is(coloured.replace(/\u001b\[[\d;]*m/g, ''), printDiagnostic(NOTE));
});

test('BadInput says everything in its message', (t) => {
  const error = new BadInput(badValue('--x', 'is wrong', 'right it'), NOTE);
  t.is(error.diagnostics.length, 2);
  t.true(error.message.startsWith('error cli/bad-value: --x: is wrong; right it\nnote analyzer/'));
});

test('a syntax error points at its place, which the parser’s message need not repeat', (t) => {
  const diagnostic = syntaxError('a.js', 'let = 1;\nlet let', 13, 'Unexpected token (2:5)');
  t.true(printDiagnostic(diagnostic).includes('Unexpected token;'));
  t.true(printDiagnostic(diagnostic).includes('a.js:2:5'));
});

test('invariants and closed switches', (t) => {
  t.notThrows(() => invariant(true, 'never said'));
  t.throws(() => invariant(0, 'zero'), { instanceOf: InvariantError, message: 'zero' });
  t.throws(() => invariant(null, () => 'late'), { instanceOf: InvariantError, message: 'late' });
  t.throws(() => unreachable({ kind: 'new' } as never), { instanceOf: InvariantError, message: /"kind":"new"/ });
});

test('the nearest word is near, or there is none', (t) => {
  t.is(nearestWord('compil', ['compile', 'explain']), 'compile');
  t.is(nearestWord('--emti', ['--out', '--emit']), '--emit');
  t.is(nearestWord('COMPILE', ['compile']), 'compile');
  t.is(nearestWord('banana', ['compile', 'explain']), null);
  t.is(nearestWord('x', []), null);
});

test('files are shown as seen from the working directory', (t) => {
  t.is(displayPath('/app/src/a.js', '/app'), 'src/a.js');
  t.is(displayPath('/app/..a.js', '/app'), '..a.js');
  t.is(displayPath('/other/a.js', '/app'), '/other/a.js');
});

// --- the catalogue and its documentation --------------------------------------------------------------------------

const documentation = readFileSync(new URL('../../docs/diagnostics.md', import.meta.url), 'utf8');

interface Section {
  readonly code: string;
  readonly body: string;
}

function sections(): readonly Section[] {
  return documentation
    .split(/^## /m)
    .slice(1)
    .map((section) => ({ code: section.slice(0, section.indexOf('\n')).trim(), body: section }));
}

test('codes are unique, and begin with the phase whose file they are in', (t) => {
  t.deepEqual([...new Set(codes)], codes);
  for (const [phase, own] of Object.entries(codesByPhase)) {
    for (const code of own) t.regex(code, new RegExp(`^${phase}/[a-z]+(-[a-z]+)*$`));
  }
});

test('docs/diagnostics.md has a section for every code, and none for others', (t) => {
  const documented = sections().map((section) => section.code);
  t.deepEqual([...documented].sort(), [...codes]);
});

test('every section shows an example with its code and says what to do', (t) => {
  for (const { code, body } of sections()) {
    t.regex(body, new RegExp(`^ {4}(?:error|warning|note) ${code}: `, 'm'), `${code} has no example`);
    t.regex(body, /^What to do: \S/m, `${code} does not say what to do`);
    t.regex(body, /^Meaning: \S/m, `${code} does not say what it means`);
  }
});

test('what is not resolved is a warning: the program may handle it', (t) => {
  t.is(moduleNotFound(spanOf('require(«"x"»)'), 'x', 'there is no such file').severity, 'warning');
});
