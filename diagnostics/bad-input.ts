import { printDiagnostic } from './report.js';
import type { Diagnostic } from './types.js';

/** Ends a command with exit code 2: what the user gave cannot be worked on. The diagnostics say everything. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  readonly diagnostics: readonly Diagnostic[];

  constructor(...diagnostics: readonly [Diagnostic, ...Diagnostic[]]) {
    super(diagnostics.map((diagnostic) => printDiagnostic(diagnostic)).join('\n'));
    this.diagnostics = diagnostics;
  }
}
