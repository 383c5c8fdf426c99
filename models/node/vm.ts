import { pure } from '../build.js';
import type { PackageModel } from '../types.js';

/** What code run by `vm` does is in none of the sources, so what runs code stays unknown. */
export const vm = { name: 'vm', module: { members: pure('isContext') } } satisfies PackageModel;
