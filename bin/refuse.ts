/** Says what is wrong with the words of `fluxion run`, as the other commands do, and ends with exit code 2. */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { badValue, missingEntry, nodeTooOld, unknownFlag } from '../diagnostics/catalogue.js';
import { printDiagnostic } from '../diagnostics/report.js';
import type { Diagnostic } from '../diagnostics/types.js';
import type { Problem } from '../runtime/types.js';

export function refuse(problem: Problem): never {
  const colour = process.stderr.isTTY === true && process.stderr.hasColors();
  writeSync(2, `${printDiagnostic(diagnosticOf(problem), { colour })}\n`);
  process.exit(2);
}

function diagnosticOf(problem: Problem): Diagnostic {
  switch (problem.kind) {
    case 'old-node':
      return nodeTooOld(problem.version);
    case 'missing-entry':
      return missingEntry('run');
    case 'unknown-flag':
      return unknownFlag(problem.flag, 'run', problem.flags, isNodes(problem.flag));
    case 'bad-value':
      return badValue(problem.flag, problem.message, problem.lift);
  }
}

/** Those that may not stand in `NODE_OPTIONS`, and that people give to servers all the same. */
const NODE_ALONE: ReadonlySet<string> = new Set(['--env-file', '--env-file-if-exists', '--harmony']);

/** `fluxion run --inspect app.js`, of who wrote `node --inspect app.js`. */
function isNodes(flag: string): boolean {
  return process.allowedNodeEnvironmentFlags.has(flag) || NODE_ALONE.has(flag);
}
