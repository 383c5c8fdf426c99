import { constants, pure } from '../build.js';
import type { PackageModel } from '../types.js';

const members = {
  // `resolve` and `relative` read the working directory, which the program has one of.
  ...pure(`basename dirname extname format isAbsolute join matchesGlob normalize parse relative resolve
    toNamespacedPath`),
  ...constants('sep delimiter'),
};

export const path = {
  name: 'path',
  module: { members: { ...members, posix: { members }, win32: { members } } },
} satisfies PackageModel;

export const pathPosix = { name: 'path/posix', module: { members } } satisfies PackageModel;

export const pathWin32 = { name: 'path/win32', module: { members } } satisfies PackageModel;
