/**
 * One test for each folder of fixtures: what the compiler makes of the program is what the expected files say.
 * `UPDATE_FIXTURES=1 npm test` writes them anew.
 */
import test, { type ExecutionContext } from 'ava';
import {
  compileFixture,
  type ExpectedFile,
  expectedFiles,
  type Fixture,
  findApps,
  findFixtures,
  isWanted,
  type Outcome,
  printOutcome,
  readExpected,
  writeExpected,
} from './support/fixture.js';
import { lineDiff } from './support/fixture-diff.js';
import { brokenInvariants } from './support/fixture-invariants.js';

const isUpdate = process.env.UPDATE_FIXTURES === '1';

for (const fixture of findFixtures()) {
  test(fixture.name, async (t) => {
    const outcome = await compileFixture(fixture);
    for (const file of expectedFiles) if (isWanted(fixture, file)) checkFile(t, fixture, outcome, file);
  });
}

function checkFile(t: ExecutionContext, fixture: Fixture, outcome: Outcome, file: ExpectedFile): void {
  const actual = printOutcome(outcome, file);
  const expected = readExpected(fixture, file);
  if (isUpdate && actual !== null) {
    writeExpected(fixture, file, actual);
    t.pass();
  } else if (actual === null) {
    t.is(expected, null, absent(fixture, outcome, file));
  } else if (expected === null) {
    t.fail(`${fixture.name} has no ${file}; UPDATE_FIXTURES=1 writes it. It would say:\n${actual}`);
  } else {
    const diff = lineDiff(expected, actual);
    t.true(diff === '', `${fixture.name}/${file} (- expected, + now):\n${diff}`);
  }
}

/** The compiler rejected what it should take, or says nothing where it should. */
function absent(fixture: Fixture, outcome: Outcome, file: ExpectedFile): string {
  const said = printOutcome(outcome, 'expected.diagnostics.txt') ?? 'it reports nothing';
  return `${fixture.name} should have ${file}, but:\n${said}`;
}

for (const fixture of [...findFixtures(), ...findApps()]) {
  test(`${fixture.name} keeps what holds for every program`, async (t) => {
    const [first, second] = [await compileFixture(fixture), await compileFixture(fixture)];
    if (first.kind === 'compiled' && second.kind === 'compiled') {
      t.deepEqual(brokenInvariants(first.compilation.program, second.compilation.program), []);
    } else {
      t.deepEqual(first, second);
    }
  });
}
