/** What the analyzer reports about the program's source. Only factories are exported here. */
import { defineDiagnostic } from '../define-diagnostic.js';
import type { Span } from '../types.js';

export const syntaxError = defineDiagnostic(
  'analyzer/syntax-error',
  'error',
  (file: string, text: string, offset: number, parserMessage: string) => ({
    // Parsers like to end their message with the place, which is printed below anyway.
    message: `the file cannot be parsed: ${parserMessage.replace(/\s*\(\d+:\d+\)\s*$/, '')}`,
    lift: `\`node --check ${file}\` should accept the file before Fluxion can read it`,
    span: { file, text, start: offset, end: offset },
  }),
);

export const invalidJson = defineDiagnostic(
  'analyzer/invalid-json',
  'error',
  (file: string, text: string, offset: number) => ({
    message: 'the program loads this file, and it is not valid JSON',
    lift: 'mind that JSON has no comments, no trailing commas and no single quotes',
    span: { file, text, start: offset, end: offset },
  }),
);

export const moduleNotFound = defineDiagnostic(
  'analyzer/module-not-found',
  'warning',
  (span: Span, specifier: string, reason: string) => ({
    message: `"${specifier}" is not resolved: ${reason}; what it gives is taken as unknown`,
    lift: 'correct the path, or leave it if the program handles the failure itself',
    span,
  }),
);

export const moduleSkipped = defineDiagnostic(
  'analyzer/module-skipped',
  'warning',
  (span: Span, specifier: string, reason: string) => ({
    message: `"${specifier}" is not analysed: ${reason}; what it gives is taken as unknown`,
    lift: 'let the program load JavaScript that Node accepts, or keep it: what depends on it stays at home',
    span,
  }),
);

export const moduleUnreadable = defineDiagnostic(
  'analyzer/module-unreadable',
  'error',
  (span: Span, specifier: string, reason: string) => ({
    message: `"${specifier}" cannot be read, and the program does not start without it: ${reason}`,
    lift: 'make it a file that you may read',
    span,
  }),
);

export const dynamicRequire = defineDiagnostic('analyzer/require-unresolved', 'note', (span: Span) => ({
  message: 'which module is loaded here is only known when the program runs; what it gives is taken as unknown',
  lift: 'load a constant path, as in require("./name"), or let the linker find it in the running program',
  span,
}));

export const callbackUnresolved = defineDiagnostic(
  'analyzer/callback-unresolved',
  'note',
  (span: Span | null, reason: string) => ({
    message: `${reason}, so this callback runs at home, as written`,
    lift: 'pass one known function to let it move',
    span,
  }),
);

export const tooDeep = defineDiagnostic('analyzer/nested-too-deeply', 'error', (file: string) => ({
  message: `the code of "${file}" is nested too deeply to be analysed`,
  lift: 'split the expression or the blocks that are nested thousands of times, if this file is not data that could be JSON',
  span: null,
}));
