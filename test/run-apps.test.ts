/**
 * Whole apps in the styles that people write them in (fixtures/apps), with all the requests of their scripts: by node and
 * by `fluxion run` under every placement, byte for byte. What really ran elsewhere must be what expected.ran.txt says, or the
 * comparison would prove nothing.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Fixture, findApps } from './support/fixture.js';
import { inTurn } from './support/in-turn.js';
import { prepare } from './support/prepare.js';
import { runCli } from './support/run-cli.js';
import type { ReportJson } from './support/served-app.js';
import { tempFolder } from './support/temp-folder.js';

const PLACEMENTS = ['home', 'loopback', 'eager', 'auto'] as const;

for (const app of findApps()) {
  if (!existsSync(join(app.folder, 'requests.jsonl'))) continue;
  test(`${app.name} is the same under every placement`, (t) => inTurn(() => verifyAll(t, app)));
}

async function verifyAll(t: ExecutionContext, app: Fixture): Promise<void> {
  const folder = tempFolder(t);
  await prepare(app.entry, app.folder, join(folder, 'cache'));
  const report = (placement: string): string => join(folder, `${placement}.json`);
  for (const placement of PLACEMENTS) {
    const env = { FLUXION_CACHE: join(folder, 'cache'), FLUXION_REPORT: report(placement), NODE_ENV: undefined };
    const words = ['verify', app.entry, '--requests', 'requests.jsonl', '--threads', '1', '--placement', placement];
    const { code, stdout, stderr } = await runCli(words, { cwd: app.folder, env });
    t.regex(stdout, /^no difference/, `${placement}: ${stderr}`);
    t.is(code, 0);
  }
  t.is(whatRan(report('eager')), expectedRuns(app, report('eager')));
  // It may have been asked to end before it had found the time to look at itself.
  if (existsSync(report('home'))) t.notRegex(whatRan(report('home')), /replica/);
}

/** One line for each fluxion that ran: where it is expected to, and where it did. */
function whatRan(file: string): string {
  const { fluxions }: ReportJson = JSON.parse(readFileSync(file, 'utf8'));
  return fluxions
    .filter(({ runs }) => Object.keys(runs).length > 0)
    .map(({ id, placement, runs }) => `${id}: ${placement}, ran ${Object.keys(runs).sort().join(' and ')}\n`)
    .sort()
    .join('');
}

function expectedRuns({ folder }: Fixture, report: string): string {
  const file = join(folder, 'expected.ran.txt');
  if (process.env.UPDATE_FIXTURES === '1') writeFileSync(file, whatRan(report));
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
