import { constants, mutating } from '../build.js';
import type { PackageModel } from '../types.js';

export const stringDecoder = {
  name: 'string_decoder',
  module: { members: { StringDecoder: { construct: { returns: 'string_decoder.StringDecoder' } } } },
  types: { StringDecoder: { members: { ...mutating('write end'), ...constants('encoding') } } },
} satisfies PackageModel;
