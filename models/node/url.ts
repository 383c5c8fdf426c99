import { each, pure } from '../build.js';
import type { PackageModel } from '../types.js';

export const url = {
  name: 'url',
  module: {
    members: {
      ...pure(`parse resolve resolveObject format domainToASCII domainToUnicode fileURLToPath fileURLToPathBuffer
        urlToHttpOptions`),
      ...pure('pathToFileURL', 'URL'),
      ...each('URL', { construct: { returns: 'URL' } }),
      ...each('URLSearchParams', { construct: { returns: 'URLSearchParams' } }),
      ...each('URLPattern', { construct: { returns: 'unknown' } }),
    },
  },
} satisfies PackageModel;
