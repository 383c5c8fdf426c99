/** What is wrong with a text in the fluxional language. Only factories are exported here. */
import { defineDiagnostic } from '../define-diagnostic.js';
import type { Span } from '../types.js';

export const flxSyntax = defineDiagnostic(
  'flx/syntax',
  'error',
  (span: Span, expected: string, found: string, lift: string) => ({
    message: `expected ${expected}, found ${found}`,
    lift,
    span,
  }),
);
