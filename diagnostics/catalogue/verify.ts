/** What is wrong with what `fluxion verify` is given. Only factories are exported here. */
import { defineDiagnostic } from '../define-diagnostic.js';
import type { Span } from '../types.js';

export const badRequests = defineDiagnostic('verify/bad-requests', 'error', (what: string, span: Span | null) => ({
  message: what,
  lift: 'record requests with "fluxion run --record requests.jsonl app.js"; README.md says what a line may have',
  span,
}));

export const missingRequests = defineDiagnostic('verify/missing-requests', 'error', () => ({
  message: '"fluxion verify" needs requests to send',
  lift: 'name a file with them, as in "fluxion verify app.js --requests requests.jsonl"',
  span: null,
}));

export const cannotVerify = defineDiagnostic('verify/cannot-start', 'error', (what: string) => ({
  message: what,
  lift: 'start the app with node first; it must listen on its own, without being asked',
  span: null,
}));
