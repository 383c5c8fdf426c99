import { pure } from '../build.js';
import type { PackageModel } from '../types.js';

export const querystring = {
  name: 'querystring',
  module: { members: pure('decode encode escape parse stringify unescape unescapeBuffer') },
} satisfies PackageModel;
