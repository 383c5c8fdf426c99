import { callbackLast, callbackOrPromise, calls, each, promising, pure } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['random'] as const;
const error = { construct: { returns: 'Error' }, call: { returns: 'Error' } };

export const jsonwebtoken = {
  name: 'jsonwebtoken',
  module: {
    members: {
      // `mutatePayload` lets `sign` write into its first argument.
      ...callbackLast('sign', { does: ['clock'], mutates: [0] }),
      ...callbackLast('verify', { does: ['clock'] }),
      ...pure('decode'),
      ...each('JsonWebTokenError NotBeforeError TokenExpiredError', error),
    },
  },
} satisfies PackageModel;

const BCRYPT = {
  ...callbackOrPromise('genSalt hash', { does }),
  ...callbackOrPromise('compare'),
  ...calls('genSaltSync hashSync', { does }),
  ...pure('compareSync getRounds'),
};

export const bcrypt = { name: 'bcrypt', module: { members: BCRYPT } } satisfies PackageModel;

export const bcryptjs = {
  name: 'bcryptjs',
  module: { members: { ...BCRYPT, ...pure('getSalt truncates'), default: { members: BCRYPT } } },
} satisfies PackageModel;

export const argon2 = {
  name: 'argon2',
  module: { members: { ...promising('hash', { does }), ...promising('verify'), ...pure('needsRehash') } },
} satisfies PackageModel;
