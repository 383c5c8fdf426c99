/** What `fluxion run` does with a program, and what the linker says of the running app; it has the last word. */
import { defineDiagnostic } from '../define-diagnostic.js';

/** Where a replica serves a request to its end, nothing of it has to be sent. */
const SERVED_WHOLE = 'nothing is needed where threads take connections (--accept): they run it as it is';

/** `isWhole`: a replica that serves whole requests runs it. */
export const keptByRun = defineDiagnostic('linker/kept-home', 'note', (why: string, isWhole: boolean) => ({
  message: `it changes nothing that outlives a request, and is not sent to another loop: ${why}`,
  lift: isWhole ? SERVED_WHOLE : '',
  span: null,
}));

export const cannotBeCut = defineDiagnostic(
  'linker/goes-on-home',
  'note',
  (id: string, place: string, isWhole: boolean) => ({
    message: `what goes on behind it stays at home ("${id}", ${place}), and no message can start that`,
    lift: isWhole ? SERVED_WHOLE : '',
    span: null,
  }),
);

export const notStarted = defineDiagnostic('linker/not-started', 'note', () => ({
  message: 'it runs where what it goes on from runs, as no message starts it',
  lift: '',
  span: null,
}));

export const liveTells = defineDiagnostic('linker/live-tells', 'note', () => ({
  message: 'the running app may tell more of what this calls, and "fluxion run" asks it: see "fluxion explain --live"',
  lift: '',
  span: null,
}));

export const staysLinked = defineDiagnostic('linker/stays-home', 'note', (why: string) => ({
  message: `in the running app: ${why}`,
  lift: '',
  span: null,
}));
