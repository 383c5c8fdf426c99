/** What is wrong with fluxion.config.js. Only factories are exported here. */
import { defineDiagnostic, wholeFile } from '../define-diagnostic.js';
import type { Span } from '../types.js';

export const configNotFound = defineDiagnostic('config/not-found', 'error', (file: string, reason: string) => ({
  message: `the configuration file "${file}" cannot be read: ${reason}`,
  lift: 'correct the path after --config, or leave the flag out to use fluxion.config.js beside package.json, if any',
  span: null,
}));

export const configFailed = defineDiagnostic('config/failed', 'error', (span: Span, problem: string) => ({
  message: `the configuration cannot be loaded: ${problem}`,
  lift: 'make the file load under plain `node` first',
  span,
}));

export const configInvalid = defineDiagnostic(
  'config/invalid',
  'error',
  (file: string, at: string, problem: string, lift: string) => ({
    message: at === '' ? problem : `${at}: ${problem}`,
    lift,
    span: wholeFile(file),
  }),
);
