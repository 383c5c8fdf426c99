import { callbackLast, chained, constants, pure } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['output'] as const;

export const tty = {
  name: 'tty',
  module: {
    members: {
      ...pure('isatty'),
      ReadStream: { construct: { returns: 'tty.ReadStream' } },
      WriteStream: { construct: { returns: 'tty.WriteStream' } },
    },
  },
  types: {
    ReadStream: { extends: 'net.Socket', members: { ...chained('setRawMode'), ...constants('isRaw isTTY fd') } },
    WriteStream: {
      extends: 'net.Socket',
      members: {
        // Output is ordered by the process, not by what the stream object holds.
        ...callbackLast('write end clearLine clearScreenDown cursorTo moveCursor', { does }, ['fresh']),
        ...pure('getColorDepth getWindowSize hasColors'),
        ...constants('columns rows isTTY fd'),
      },
      events: { resize: { params: [] } },
    },
  },
} satisfies PackageModel;
