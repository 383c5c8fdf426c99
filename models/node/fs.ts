import { callbackLast, calls, chained, classes, constants, emitter, events, post, start, values } from '../build.js';
import type { PackageModel } from '../types.js';
import { fsPromiseMembers } from './fs-promises.js';

const does = ['files'] as const;

/** Each has a twin whose name ends in `Sync`. */
const NAMES = `appendFile access chown chmod close copyFile cp fchown fchmod fdatasync fstat fsync ftruncate futimes
  lchown link lstat lutimes mkdir mkdtemp open readFile readlink rename rm rmdir stat statfs symlink truncate unlink
  utimes writeFile write writev`;
const sync = (names: string): string => names.trim().replace(/\s+|$/g, 'Sync ');

export const fs = {
  name: 'fs',
  module: {
    members: {
      ...callbackLast(NAMES, { does }),
      ...calls(sync(NAMES), { does }),
      ...callbackLast('exists', { does }),
      ...calls('existsSync', { does }),
      ...callbackLast('stat lstat fstat', { does }, ['fresh', 'fs.Stats']),
      ...calls('statSync lstatSync fstatSync', { does, returns: 'fs.Stats' }),
      ...callbackLast('readdir glob', { does }, ['fresh', 'Array']),
      ...calls('readdirSync globSync', { does, returns: 'Array' }),
      ...callbackLast('opendir', { does }, ['fresh', 'fs.Dir']),
      ...calls('opendirSync', { does, returns: 'fs.Dir' }),
      ...callbackLast('read readv', { does, mutates: [1] }, ['fresh', 'fresh', 'argument 1']),
      ...calls('readSync readvSync', { does, mutates: [1] }),
      ...callbackLast('lchmod', { does }),
      ...calls('lchmodSync mkdtempDisposableSync', { does }),
      realpath: {
        call: { does, returns: 'fresh', ruptures: [post('last')] },
        members: callbackLast('native', { does }),
      },
      realpathSync: { call: { does, returns: 'fresh' }, members: calls('native', { does }) },
      openAsBlob: { call: { does, promise: true, returns: 'fresh' } },
      createReadStream: { call: { does, returns: 'fs.ReadStream' } },
      createWriteStream: { call: { does, returns: 'fs.WriteStream' } },
      watch: { call: { does, returns: 'fs.FSWatcher', ruptures: [start('last', ['fresh', 'fresh'], { label: 0 })] } },
      watchFile: {
        call: { does, returns: 'fs.StatWatcher', ruptures: [start('last', ['fs.Stats', 'fs.Stats'], { label: 0 })] },
      },
      ...calls('unwatchFile', { does, stateful: true }),
      ...classes('ReadStream WriteStream FileReadStream FileWriteStream', (name) => `fs.${name.replace('File', '')}`, {
        does,
      }),
      Dirent: { construct: { returns: 'fs.Dirent' } },
      Stats: { construct: { returns: 'fs.Stats' } },
      Dir: { construct: { returns: 'fs.Dir' } },
      ...constants('F_OK R_OK W_OK X_OK'),
      ...values('constants'),
      promises: { members: fsPromiseMembers },
    },
  },
  types: {
    Stats: { travels: 'clone', members: constants('size mode mtime'), others: { returns: 'fresh' } },
    Dirent: { members: constants('name parentPath path'), others: { returns: 'fresh' } },
    Dir: {
      members: {
        ...callbackLast('read close', { does, mutates: ['this'], promiseWithoutCallback: true }),
        ...calls('readSync closeSync', { does, mutates: ['this'] }),
        ...constants('path'),
      },
    },
    ReadStream: {
      extends: 'stream.Readable',
      members: { ...callbackLast('close', { does, mutates: ['this'] }), ...constants('bytesRead path pending') },
      events: { ...events('open ready', { params: ['fresh'], once: true }) },
    },
    WriteStream: {
      extends: 'stream.Writable',
      members: { ...callbackLast('close', { does, mutates: ['this'] }), ...constants('bytesWritten path pending') },
      events: { ...events('open ready', { params: ['fresh'], once: true }) },
    },
    FSWatcher: emitter(
      { ...calls('close', { does, mutates: ['this'] }), ...chained('ref unref') },
      { change: { params: ['fresh', 'fresh'] }, close: { once: true, params: [] } },
    ),
    StatWatcher: emitter(chained('ref unref'), { change: { params: ['fs.Stats', 'fs.Stats'] } }),
  },
} satisfies PackageModel;
