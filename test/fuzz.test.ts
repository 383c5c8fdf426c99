import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { unreachable } from '../diagnostics/invariant.js';
import type { Diagnostic } from '../diagnostics/types.js';
import { BoundedCompiler, type BoundedReply } from './support/bounded-compiler.js';
import { Choices, choices } from './support/choices.js';
import { generateProgram } from './support/generate-program.js';
import {
  carriers,
  leaves,
  type StatePlan,
  type StateProgram,
  statePlans,
  vocabularyWithout,
  wrappers,
  writeStateProgram,
} from './support/generate-state-program.js';
import { areBothOwned, Chains, findTimid, findUnsound } from './support/judge-placements.js';
import { mangleText, mangleTree } from './support/mangle-program.js';
import { stateProbes, writeProbe } from './support/state-probes.js';
import { stateProbesOfForms } from './support/state-probes-of-forms.js';
import type { Tree } from './support/temp-folder.js';

// Each run makes the same programs; FUZZ_SEED and FUZZ_RUNS look further.
const seed = Number(process.env.FUZZ_SEED ?? 20_200_601);
const effort = Number(process.env.FUZZ_RUNS ?? 0.25);

/** On failure shows the smallest program found that fails, and how to make it again. */
async function holds<T>(t: ExecutionContext, property: fc.IAsyncProperty<T>, runs: number): Promise<void> {
  const result = await fc.check(property, {
    seed,
    numRuns: Math.ceil(runs * effort),
    // Only what fails takes that long: to make it smaller.
    interruptAfterTimeLimit: 20_000 * Math.max(1, effort),
  });
  const why = result.errorInstance instanceof Error ? result.errorInstance.message : String(result.errorInstance);
  if (result.failed) t.fail(`FUZZ_SEED=${result.seed}, path ${result.counterexamplePath}\n${why}`);
  else t.pass();
}

// Any program -------------------------------------------------------------------------------------------------------

test('generated programs compile, to a well-formed program, to the same one each time', async (t) => {
  const compiler = boundedCompiler(t);
  const property = fc.asyncProperty(choices(400), async (list) => {
    const program = generateProgram(new Choices(list));
    const reply = await compiler.compile(program.files, program.entry, true);
    demand(program.files, findMisbehaviour(reply));
  });
  await holds(t, property, 150);
});

test('mangled syntax trees compile or are refused with file and line', async (t) => {
  const compiler = boundedCompiler(t);
  const programs = listFixtures();
  const property = fc.asyncProperty(choices(40), async (list) => {
    const supply = new Choices(list);
    const { files, entry } = supply.in(programs);
    const file = supply.in(Object.keys(files).filter((name) => /\.[cm]?js$/.test(name)));
    const mangled = mangleTree(String(files[file]), file.endsWith('.mjs'), supply);
    const tree = { ...files, [file]: mangled ?? '' };
    demand(tree, findMisbehaviour(await compiler.compile(tree, entry, true)));
  });
  await holds(t, property, 250);
});

test('mangled text compiles or is refused with file and line', async (t) => {
  const compiler = boundedCompiler(t);
  const programs = listFixtures();
  const property = fc.asyncProperty(choices(20), async (list) => {
    const supply = new Choices(list);
    const { files, entry } = supply.in(programs);
    const file = supply.in(Object.keys(files).filter((name) => /\.[cm]?js$/.test(name)));
    const tree = { ...files, [file]: mangleText(String(files[file]), supply) };
    demand(tree, findMisbehaviour(await compiler.compile(tree, entry, true)));
  });
  await holds(t, property, 250);
});

/** Whatever a program looks like, it compiles to something sound or is refused in words that its author can use. */
function findMisbehaviour(reply: BoundedReply): readonly string[] {
  switch (reply.kind) {
    case 'compiled':
      return reply.broken;
    case 'refused':
      return reply.diagnostics.flatMap((diagnostic) => findVague(diagnostic, reply.message));
    case 'crashed':
    case 'hung':
      return [describeReply(reply)];
    default:
      return unreachable(reply);
  }
}

function findVague({ code, message, lift, span }: Diagnostic, text: string): string[] {
  const vague: string[] = [];
  if (!/^[a-z]+\/[a-z-]+$/.test(code) || message === '' || lift === '')
    vague.push(`"${code}" says too little: ${text}`);
  if (span === null) vague.push(`${code} has no place: ${text}`);
  else if (!(span.start >= 0 && span.start <= span.end && span.end <= span.text.length))
    vague.push(`${code} points nowhere`);
  if (!/\.[cm]?js:\d+:\d+/.test(text)) vague.push(`no file and line in: ${text}`);
  return vague;
}

function demand(files: Tree, problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n${showFiles(files)}`);
}

interface Program {
  readonly files: Tree;
  readonly entry: string;
}

/** Programs of the fixtures that are right as they stand, all files of each: they are what people write. */
function listFixtures(): readonly Program[] {
  const root = fileURLToPath(new URL('../../fixtures/', import.meta.url));
  const programs: Program[] = [];
  for (const topic of foldersIn(root).filter((name) => name !== 'errors')) {
    for (const name of foldersIn(join(root, topic))) {
      const files = readProgram(join(root, topic, name));
      const entry = ['app.js', 'app.mjs', 'app.cjs'].find((file) => file in files);
      if (entry !== undefined && !('fluxion.config.js' in files)) programs.push({ files, entry });
    }
  }
  return programs;
}

function foldersIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

function readProgram(folder: string): { [path: string]: string } {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const texts = paths.filter((path) => /\.([cm]?js|json)$/.test(path) && !/^(expected|requests|fixture)\b/.test(path));
  return Object.fromEntries(texts.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

// State -------------------------------------------------------------------------------------------------------------

/** Indirections that the analysis does not see through yet. */
const knownGaps: readonly string[] = [];

function alone(states: readonly string[], chain: readonly string[], leaf: string): StatePlan {
  const other = leaves[leaf]!.changes ? 'read by JSON' : 'computed name';
  const handler = (touch: { wrappers: readonly string[]; leaf: string }) => ({
    touches: [{ state: 0, ...touch }],
    registered: 'in place' as const,
    busy: 'nothing',
  });
  // The other handler takes no detours, so it is the program's first state that both touch.
  return {
    states: [states],
    handlers: [handler({ wrappers: chain, leaf }), { ...handler({ wrappers: [], leaf: other }) }],
  };
}

test('each indirection alone: who changes or reads shared state is never replicated', async (t) => {
  const compiler = boundedCompiler(t);
  const plans: [string, StatePlan][] = [
    ...Object.keys(carriers).map((name): [string, StatePlan] => [name, alone([name], [], 'increment')]),
    ...Object.keys(wrappers).map((name): [string, StatePlan] => [name, alone([], [name], 'increment')]),
    ...Object.keys(leaves).map((name): [string, StatePlan] => [name, alone([], [], name)]),
  ];
  const unsound: string[] = [];
  for (const [name, plan] of plans) {
    const problems = await problemsOf(writeStateProgram(plan), compiler);
    if (problems.length > 0) unsound.push(name);
    for (const problem of problems) t.log(`${name}: ${problem}`);
  }
  t.deepEqual(unsound, [...knownGaps]);
});

/** Ways to change and to read state that the analysis does not see through yet; the running app is watched for them (guards.ts). */
const knownProbeGaps: readonly string[] = [
  'getPrototypeOf what is written down',
  'getPrototypeOf a list',
  'constructor of what is written down',
];

test('each way to share state by itself: who changes it and who reads it are never replicated', async (t) => {
  const compiler = boundedCompiler(t);
  const unsound: string[] = [];
  for (const probe of [...stateProbes, ...stateProbesOfForms]) {
    const reply = await compiler.compile(
      { 'app.js': writeProbe(probe), 'data.json': '{ "list": [] }' },
      'app.js',
      false,
    );
    if (reply.kind === 'compiled' && areBothOwned(new Chains(reply.fluxions))) continue;
    unsound.push(probe[0]);
    t.log(`${probe[0]}: ${reply.kind === 'compiled' ? 'replicated' : describeReply(reply)}\n${writeProbe(probe)}`);
  }
  t.deepEqual(unsound, [...knownProbeGaps]);
});

test('indirections together: who shares state that changes is never replicated, who shares none always', async (t) => {
  const compiler = boundedCompiler(t);
  const plans = statePlans(vocabularyWithout(new Set(knownGaps)));
  const exact = fc.asyncProperty(plans, async (plan) => {
    const program = writeStateProgram(plan);
    demand(program.files, await problemsOf(program, compiler));
  });
  await holds(t, exact, 500);
});

async function problemsOf(program: StateProgram, compiler: BoundedCompiler): Promise<readonly string[]> {
  const reply = await compiler.compile(program.files, program.entry, false);
  if (reply.kind !== 'compiled') return [describeReply(reply)];
  const chains = new Chains(reply.fluxions);
  return [...findUnsound(program.handlers, chains), ...findTimid(program.handlers, chains)];
}

// -------------------------------------------------------------------------------------------------------------------

function boundedCompiler(t: ExecutionContext): BoundedCompiler {
  const compiler = new BoundedCompiler(10_000);
  t.teardown(() => compiler.close());
  return compiler;
}

function describeReply(reply: Exclude<BoundedReply, { kind: 'compiled' }>): string {
  switch (reply.kind) {
    case 'refused':
      return `refused: ${reply.message}`;
    case 'crashed':
      return `crashed: ${reply.stack}`;
    case 'hung':
      return `no end after ${reply.afterMs} ms`;
    default:
      return unreachable(reply);
  }
}

function showFiles(files: Tree): string {
  return Object.entries(files)
    .map(([name, text]) => `// ${name}\n${text}`)
    .join('\n');
}
