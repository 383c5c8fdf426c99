/** Why the pipeliner expects a fluxion where it does. Only factories are exported here. */
import { defineDiagnostic } from '../define-diagnostic.js';

export const startUpCode = defineDiagnostic('pipeliner/start-up', 'note', () => ({
  message: 'start-up code runs once, at home',
  lift: '',
  span: null,
}));

export const notRequest = defineDiagnostic('pipeliner/not-a-request', 'note', (what: string) => ({
  message: `${what} is not part of a request, and only requests are spread over loops`,
  lift: '',
  span: null,
}));

export const callUnresolved = defineDiagnostic('pipeliner/call-unresolved', 'note', (callee: string) => ({
  message: `"${callee}" is not known before the program runs: it may read or change anything`,
  lift: 'call a function that is imported or declared in sight, or let the linker find it in the running program',
  span: null,
}));

export const packageUnmodelled = defineDiagnostic(
  'pipeliner/package-unmodelled',
  'note',
  (callee: string, name: string) => ({
    message: `"${callee}" runs code of the package "${name}", of which nothing is known`,
    lift: `describe "${name}" under \`models\` in fluxion.config.js, or let the linker analyse it in the running program`,
    span: null,
  }),
);

export const changesUnknown = defineDiagnostic('pipeliner/changes-unknown', 'note', (what: string) => ({
  message: `"${what}" changes an object that comes from code that is not read here, and may be held there too`,
  lift: 'change a copy of it, or describe the package that it comes from in a model',
  span: null,
}));

export const globalVariable = defineDiagnostic('pipeliner/global-variable', 'note', (name: string) => ({
  message: `"${name}" is a global variable, which code that is not read here may change as well`,
  lift: 'declare it in a module, and export it',
  span: null,
}));

export const heldElsewhere = defineDiagnostic('pipeliner/held-elsewhere', 'note', (name: string) => ({
  message: `"${name}" came to start-up code from code that is not read here, which may change it at any time`,
  lift: `give "${name}" its value in the app's own modules`,
  span: null,
}));

export const runsAnywhere = defineDiagnostic('pipeliner/runs-anywhere', 'note', (name: string) => ({
  message: `the app's function at "${name}" keeps something, and whatever a request does may run it`,
  lift: 'let that function keep nothing, or leave it out',
  span: null,
}));

export const settingsChange = defineDiagnostic('pipeliner/settings-change', 'note', (name: string) => ({
  message: `settings of the package "${name}" change while the app runs`,
  lift: `let start-up code configure "${name}"`,
  span: null,
}));

export const filesChange = defineDiagnostic('pipeliner/files-change', 'note', (callee: string) => ({
  message: `"${callee}" works on files, which some part of the app changes in one turn with what it reads or answers`,
  lift: 'keep such data in a database, or wait for files: "await writeFile(…)", before the reply is sent',
  span: null,
}));

export const hiddenState = defineDiagnostic('pipeliner/hidden-state', 'note', (callee: string) => ({
  message: `"${callee}" keeps state that every caller shares`,
  lift: 'keep that state outside of the process, in a database for instance',
  span: null,
}));

export const actsOnProcess = defineDiagnostic('pipeliner/acts-on-process', 'note', (callee: string) => ({
  message: `"${callee}" acts on the whole process`,
  lift: 'let start-up code do this',
  span: null,
}));

export const opaqueCode = defineDiagnostic('pipeliner/opaque-code', 'note', (what: string) => ({
  message: `${what} can read and change what no analysis sees`,
  lift: 'write it as plain code',
  span: null,
}));

export const loadsLate = defineDiagnostic('pipeliner/loads-late', 'note', (module: string) => ({
  message: `${module} may be loaded here, while the app serves, and a module is loaded once`,
  lift: 'load it when the app starts, at the top of a module',
  span: null,
}));

export const changesByLoading = defineDiagnostic('pipeliner/changes-by-loading', 'note', (module: string) => ({
  message: `${module} may be loaded here, while the app serves, and changes what others use`,
  lift: 'load it when the app starts, at the top of a module',
  span: null,
}));

export const keepsState = defineDiagnostic('pipeliner/keeps-state', 'note', (names: string) => ({
  message: `it alone changes ${names}, so there is one of it`,
  lift: '',
  span: null,
}));

export const sharesState = defineDiagnostic('pipeliner/shares-state', 'note', (name: string, others: string) => ({
  message: `it shares "${name}", which changes while the app runs, with ${others}`,
  lift: '',
  span: null,
}));

export const boundTo = defineDiagnostic('pipeliner/cannot-travel', 'note', (name: string, other: string) => ({
  message: `"${name}" cannot travel in a message, so it stays with "${other}"`,
  lift: `pass plain data, or declare "${name}" at the top of a module`,
  span: null,
}));

export const oneRequest = defineDiagnostic(
  'pipeliner/shares-within-request',
  'note',
  (name: string, others: string) => ({
    message: `it shares "${name}" with ${others}, anew in each request, so these run together`,
    lift: '',
    span: null,
  }),
);

export const stateless = defineDiagnostic('pipeliner/stateless', 'note', () => ({
  message: 'it changes nothing that outlives a request',
  lift: '',
  span: null,
}));

export const tooEntangled = defineDiagnostic('pipeliner/too-entangled', 'note', () => ({
  message: 'in this program too many values may be too many things for the analysis to tell them apart',
  lift: 'compile the sources of the app rather than a bundle of it, or let the linker look at the running program',
  span: null,
}));
