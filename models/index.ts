/** The tables that the analyzer reads. `fluxion.config.js` adds models to them. */
export { builtins, byMethodName } from './builtins.js';
export { globals } from './globals.js';
export { coreModels } from './node/index.js';
export { packageModels } from './packages/index.js';
