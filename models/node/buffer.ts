import type { Members } from '../build.js';
import { calls, classes, constants, pure, values } from '../build.js';
import type { Member, PackageModel } from '../types.js';

/** Also the global. A buffer that is made from an ArrayBuffer shares its memory. */
export const BUFFER: Member = {
  call: { returns: 'Buffer', keeps: [0] },
  construct: { returns: 'Buffer', keeps: [0] },
  members: {
    from: { call: { returns: 'Buffer', keeps: [0] } },
    ...pure('alloc allocUnsafe allocUnsafeSlow concat copyBytesFrom of', 'Buffer'),
    ...pure('byteLength compare isBuffer isEncoding'),
    ...values('poolSize'),
  },
};

export const BLOBS: Members = classes('Blob File', () => 'Blob');

export const buffer = {
  name: 'buffer',
  module: {
    members: {
      Buffer: BUFFER,
      SlowBuffer: { call: { returns: 'Buffer' }, construct: { returns: 'Buffer' } },
      ...BLOBS,
      ...pure('atob btoa isAscii isUtf8'),
      ...pure('transcode', 'Buffer'),
      ...calls('resolveObjectURL', { stateful: true, returns: 'unknown' }),
      ...constants('constants kMaxLength kStringMaxLength'),
      ...values('INSPECT_MAX_BYTES'),
    },
  },
} satisfies PackageModel;
