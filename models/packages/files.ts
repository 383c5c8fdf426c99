import type { Members } from '../build.js';
import {
  callbackOrPromise,
  calls,
  chained,
  emitter,
  events,
  post,
  promising,
  pure,
  values,
  withDefault,
} from '../build.js';
import { fs } from '../node/fs.js';
import type { Member, PackageModel } from '../types.js';

const does = ['files'] as const;

export const gracefulFs = {
  name: 'graceful-fs',
  module: { members: { ...fs.module.members, ...calls('gracefulify', { mutates: [0], returns: 'argument 0' }) } },
} satisfies PackageModel;

/** `fs`, whose functions give a promise when they are called without a callback, and more of the kind. */
const promised: Members = Object.fromEntries(
  Object.entries<Member>(fs.module.members).map(([name, member]) => [name, orPromise(member)]),
);

function orPromise(member: Member): Member {
  const later = member.call?.ruptures?.some((rupture) => rupture.kind === 'post') ?? false;
  return later ? { ...member, call: { ...member.call, promiseWithoutCallback: true } } : member;
}

const EXTRA = `copy createFile createLink createSymlink emptyDir emptydir ensureDir ensureFile ensureLink ensureSymlink
  mkdirp mkdirs move outputFile outputJson outputJSON pathExists remove writeJson writeJSON`;
const READ = 'readJson readJSON';

export const fsExtra = {
  name: 'fs-extra',
  module: {
    members: {
      ...promised,
      ...callbackOrPromise(EXTRA, { does }),
      ...calls(EXTRA.replace(/(\s+|$)/g, 'Sync$1'), { does }),
      ...callbackOrPromise(READ, { does, returns: 'data' }, ['fresh', 'data']),
      ...calls('readJsonSync readJSONSync', { does, returns: 'data' }),
    },
  },
} satisfies PackageModel;

const found = { does, returns: 'Array' } as const;

export const glob = {
  name: 'glob',
  module: {
    call: { ruptures: [post('last', ['fresh', 'Array'])], returns: 'fresh', does, promiseWithoutCallback: true },
    members: {
      ...promising('glob', found),
      ...calls('sync globSync', found),
      ...pure('hasMagic escape unescape'),
    },
  },
} satisfies PackageModel;

const mkdirpModule: Member = {
  call: { ruptures: [post('last')], returns: 'fresh', does, promiseWithoutCallback: true },
  members: { ...calls('sync mkdirpSync', { does }), ...promising('mkdirp', { does }) },
};
export const mkdirp = { name: 'mkdirp', module: mkdirpModule } satisfies PackageModel;

export const rimraf = {
  name: 'rimraf',
  module: {
    call: { ruptures: [post('last')], returns: 'fresh', does, promiseWithoutCallback: true },
    members: { ...calls('sync rimrafSync', { does }), ...promising('rimraf', { does }) },
  },
} satisfies PackageModel;

export const chokidar = {
  name: 'chokidar',
  module: withDefault({ members: calls('watch', { does, returns: 'chokidar.FSWatcher' }) }),
  types: {
    FSWatcher: emitter(
      {
        ...chained('add unwatch', { does }),
        ...promising('close', { does, mutates: ['this'] }),
        ...pure('getWatched'),
      },
      {
        ...events('add addDir change unlink unlinkDir', { params: ['fresh', 'fresh'] }),
        all: { params: ['fresh', 'fresh', 'fresh'] },
        ready: { params: [], once: true },
      },
    ),
  },
} satisfies PackageModel;

export const rawBody = {
  name: 'raw-body',
  module: {
    call: {
      ruptures: [post('last', ['fresh', 'fresh'])],
      returns: 'fresh',
      mutates: [0],
      promiseWithoutCallback: true,
    },
  },
} satisfies PackageModel;

export const onFinished = {
  name: 'on-finished',
  module: {
    call: { ruptures: [post(1, ['fresh', 'argument 0'])], returns: 'argument 0', mutates: [0], keeps: [1] },
    members: pure('isFinished'),
  },
} satisfies PackageModel;

export const onHeaders = {
  name: 'on-headers',
  module: { call: { ruptures: [post(1, [])], returns: 'fresh', mutates: [0], keeps: [1] } },
} satisfies PackageModel;

export const send = {
  name: 'send',
  module: { call: { returns: 'send.SendStream', does } },
  types: {
    SendStream: {
      extends: 'stream.Stream',
      members: {
        ...chained('root from maxage'),
        pipe: { call: { returns: 'argument 0', mutates: ['this', 0], does } },
      },
      events: { ...events('file directory headers stream', { params: ['unknown', 'unknown', 'unknown'] }) },
    },
  },
} satisfies PackageModel;

export const vary = {
  name: 'vary',
  module: { call: { returns: 'fresh', mutates: [0] }, members: pure('append') },
} satisfies PackageModel;

export const formidable = {
  name: 'formidable',
  module: withDefault({
    call: { returns: 'formidable.Form', keeps: [-1] },
    members: {
      formidable: { call: { returns: 'formidable.Form', keeps: [-1] } },
      IncomingForm: { construct: { returns: 'formidable.Form', keeps: [-1] } },
    },
  }),
  types: {
    Form: emitter(
      {
        ...callbackOrPromise('parse', { mutates: ['this', 0], does }, ['fresh', 'fresh', 'fresh']),
        ...values('uploadDir keepExtensions maxFileSize multiples'),
      },
      {
        ...events('field file fileBegin', { params: ['fresh', 'fresh'] }),
        end: { params: [], once: true },
      },
    ),
  },
} satisfies PackageModel;

export const busboy = {
  name: 'busboy',
  module: { call: { returns: 'busboy.Busboy' }, construct: { returns: 'busboy.Busboy' } },
  types: {
    Busboy: {
      extends: 'stream.Writable',
      members: {},
      events: {
        file: { params: ['fresh', 'stream.Readable', 'fresh'] },
        field: { params: ['fresh', 'fresh', 'fresh'] },
      },
    },
  },
} satisfies PackageModel;

export const sharp = {
  name: 'sharp',
  module: {
    call: { returns: 'sharp.Sharp' },
    members: calls('cache concurrency simd', { stateful: true }),
  },
  types: {
    Sharp: {
      extends: 'stream.Duplex',
      members: {
        ...callbackOrPromise('toBuffer metadata stats'),
        ...callbackOrPromise('toFile', { does }),
        ...chained(`resize rotate extract trim extend flip flop sharpen median blur flatten gamma negate normalise
          normalize threshold linear tint greyscale grayscale composite jpeg png webp avif tiff gif raw toFormat
          withMetadata ensureAlpha removeAlpha`),
        ...pure('clone', 'sharp.Sharp'),
      },
    },
  },
} satisfies PackageModel;
