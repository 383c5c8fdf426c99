import type { Diagnostic, Severity, Span } from './types.js';

/** Makes one kind of diagnostic. It carries its code, so that the catalogue can list all codes from its exports. */
export interface DiagnosticFactory<Facts extends readonly unknown[]> {
  (...facts: Facts): Diagnostic;
  readonly code: string;
  readonly severity: Severity;
}

/** What a factory says about one occurrence; the code and the severity are the same for all of them. */
export interface DiagnosticText {
  readonly message: string;
  readonly lift: string;
  readonly span: Span | null;
}

export function defineDiagnostic<Facts extends readonly unknown[]>(
  code: string,
  severity: Severity,
  describe: (...facts: Facts) => DiagnosticText,
): DiagnosticFactory<Facts> {
  const make = (...facts: Facts): Diagnostic => ({ code, severity, ...describe(...facts) });
  return Object.assign(make, { code, severity });
}

/** A span for a file of which no text is at hand, or of which no single place is to blame. */
export function wholeFile(file: string): Span {
  return { file, text: '', start: 0, end: 0 };
}
