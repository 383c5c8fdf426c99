import { callbackLast, classes, constants, listed, mutating, pure } from '../build.js';
import type { PackageModel } from '../types.js';

const NAMES = `deflate gzip deflateRaw unzip inflate gunzip inflateRaw brotliCompress brotliDecompress zstdCompress
  zstdDecompress`;
const capital = (name: string): string => name[0]?.toUpperCase() + name.slice(1);
const both = listed(NAMES);

export const zlib = {
  name: 'zlib',
  module: {
    members: {
      ...callbackLast(NAMES),
      ...pure(both.map((name) => `${name}Sync`).join(' ')),
      ...pure(both.map((name) => `create${capital(name)}`).join(' '), 'zlib.Zlib'),
      ...classes(both.map(capital).join(' '), () => 'zlib.Zlib'),
      ...pure('crc32'),
      ...constants('constants codes'),
    },
  },
  types: {
    Zlib: {
      extends: 'stream.Transform',
      members: {
        ...callbackLast('flush close params', { mutates: ['this'] }),
        ...mutating('reset'),
        ...constants('bytesWritten'),
      },
    },
  },
} satisfies PackageModel;
