import { calls, constants, pure, values } from '../build.js';
import type { PackageModel } from '../types.js';

export const moduleModel = {
  name: 'module',
  module: {
    members: {
      ...pure('isBuiltin findSourceMap stripTypeScriptTypes'),
      ...constants('builtinModules'),
      ...calls('register registerHooks syncBuiltinESMExports enableCompileCache flushCompileCache', {
        does: ['process'],
        stateful: true,
      }),
      ...values('globalPaths'),
    },
  },
} satisfies PackageModel;
