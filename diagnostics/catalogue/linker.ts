/** What the linker says of the running app; it has the last word. */
import { defineDiagnostic } from '../define-diagnostic.js';

export const staysLinked = defineDiagnostic('linker/stays-home', 'note', (why: string) => ({
  message: `in the running app: ${why}`,
  lift: '',
  span: null,
}));
