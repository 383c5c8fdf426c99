import { constants, pure } from '../build.js';
import type { PackageModel } from '../types.js';

export const punycode = {
  name: 'punycode',
  module: {
    members: {
      ...pure('decode encode toASCII toUnicode'),
      ...constants('version'),
      ucs2: { members: pure('decode encode') },
    },
  },
} satisfies PackageModel;
