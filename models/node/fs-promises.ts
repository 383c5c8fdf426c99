import { calls, constants, events, promising, values } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['files'] as const;

/** Also the members of `fs.promises`. */
export const fsPromiseMembers = {
  ...promising(
    `access copyFile cp rename truncate rm rmdir mkdir readlink symlink statfs link unlink chmod lchmod lchown chown
    utimes lutimes realpath mkdtemp mkdtempDisposable writeFile appendFile readFile`,
    { does },
  ),
  ...promising('stat lstat', { does, returns: 'fs.Stats' }),
  ...promising('readdir', { does, returns: 'Array' }),
  ...promising('open', { does, returns: 'fs/promises.FileHandle' }),
  ...promising('opendir', { does, returns: 'fs.Dir' }),
  ...calls('watch glob', { does }),
  ...values('constants'),
};

export const fsPromises = {
  name: 'fs/promises',
  module: { members: fsPromiseMembers },
  types: {
    FileHandle: {
      extends: 'events.EventEmitter',
      members: {
        ...promising(`appendFile chmod chown close datasync sync readFile truncate utimes write writev writeFile`, {
          does,
          mutates: ['this'],
        }),
        ...promising('stat', { does, returns: 'fs.Stats' }),
        ...promising('read readv', { does, mutates: ['this', 0], returns: 'unknown' }),
        ...calls('createReadStream', { does, mutates: ['this'], returns: 'fs.ReadStream' }),
        ...calls('createWriteStream', { does, mutates: ['this'], returns: 'fs.WriteStream' }),
        ...calls('readLines readableWebStream', { does, mutates: ['this'] }),
        ...constants('fd'),
      },
      events: events('close', { once: true, params: [] }),
    },
  },
} satisfies PackageModel;
