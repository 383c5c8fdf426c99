import type { Members } from '../build.js';
import {
  callbackLast,
  calls,
  chained,
  constants,
  events,
  mutating,
  post,
  promising,
  pure,
  sync,
  values,
} from '../build.js';
import type { Member, PackageModel, TypeModel, ValueRef } from '../types.js';

const end = { once: true, params: [] } as const;

const PIPE: Member = { call: { returns: 'argument 0', mutates: ['this', 0], keeps: [0] } };

const READABLE: Members = {
  ...pure('isPaused'),
  ...calls('read', { returns: 'contents', mutates: ['this'] }),
  ...chained('pause resume setEncoding destroy wrap'),
  ...chained('unshift push', { returns: 'fresh' }),
  pipe: PIPE,
  unpipe: { call: { returns: 'this', mutates: ['this', 0] } },
  ...constants(`readable readableAborted readableDidRead readableEncoding readableEnded readableFlowing
    readableHighWaterMark readableLength readableObjectMode destroyed closed`),
  ...values('errored'),
};
const READABLE_EVENTS = {
  ...events('end close', end),
  ...events('readable pause resume', { params: [] }),
  data: { params: ['contents'] },
  error: { params: ['contents'] },
};

const WRITABLE: Members = {
  ...callbackLast('write', { mutates: ['this'], keeps: [0] }, ['fresh']),
  ...callbackLast('end', { mutates: ['this'], keeps: [0], returns: 'this' }, ['fresh']),
  ...mutating('cork uncork'),
  ...chained('setDefaultEncoding destroy'),
  ...constants(`writable writableAborted writableEnded writableFinished writableHighWaterMark writableLength
    writableObjectMode writableCorked writableNeedDrain destroyed closed`),
  ...values('errored'),
};
const WRITABLE_EVENTS = {
  ...events('finish close', end),
  drain: { params: [] },
  ...events('pipe unpipe', { params: ['stream.Readable'] }),
  error: { params: ['contents'] },
};

const DONE = 'stream.Done';
/** What the options of a stream implement it with, and what that is called with. */
const IMPLEMENTED: { readonly [name: string]: readonly ValueRef[] } = {
  construct: [DONE],
  read: ['fresh'],
  write: ['fresh', 'fresh', DONE],
  writev: ['fresh', DONE],
  final: [DONE],
  transform: ['fresh', 'fresh', DONE],
  flush: [DONE],
  destroy: ['fresh', DONE],
};
const implementations = Object.entries(IMPLEMENTED).map(([within, params]) =>
  sync(0, params, { within, thisIsResult: true }),
);
const streamClass = (name: string): Member => ({
  construct: { ruptures: implementations, returns: `stream.${name}`, keeps: [-1] },
});
const streamType = (members: TypeModel['members'], heard: TypeModel['events']): TypeModel => ({
  extends: 'stream.Stream',
  members,
  events: heard ?? {},
});

export const stream = {
  name: 'stream',
  module: {
    construct: { returns: 'stream.Stream' },
    members: {
      Stream: streamClass('Stream'),
      Readable: {
        ...streamClass('Readable'),
        members: { ...calls('from fromWeb', { returns: 'stream.Readable', keeps: [-1] }), ...pure('isDisturbed') },
      },
      Writable: { ...streamClass('Writable'), members: pure('fromWeb', 'stream.Writable') },
      Duplex: { ...streamClass('Duplex'), members: pure('fromWeb', 'stream.Duplex') },
      Transform: streamClass('Transform'),
      PassThrough: streamClass('PassThrough'),
      pipeline: {
        call: { ruptures: [post('last', ['fresh', 'unknown'])], mutates: [-1], returns: 'unknown' },
      },
      finished: { call: { ruptures: [post('last', ['fresh'])], mutates: [0], returns: 'unknown' } },
      ...pure('isDestroyed isDisturbed isErrored isReadable isWritable'),
      ...calls('getDefaultHighWaterMark setDefaultHighWaterMark', { stateful: true }),
      ...calls('destroy', { mutates: [0], returns: 'argument 0' }),
      addAbortSignal: { call: { mutates: [0, 1], returns: 'argument 1' } },
      promises: { members: promising('pipeline finished', { mutates: [-1], returns: 'unknown' }) },
    },
  },
  types: {
    Stream: { extends: 'events.EventEmitter', members: { pipe: PIPE } },
    Readable: streamType(READABLE, READABLE_EVENTS),
    Writable: streamType(WRITABLE, WRITABLE_EVENTS),
    Duplex: streamType({ ...READABLE, ...WRITABLE }, { ...READABLE_EVENTS, ...WRITABLE_EVENTS }),
    Transform: { extends: 'stream.Duplex', members: {} },
    PassThrough: { extends: 'stream.Duplex', members: {} },
    Done: { members: {}, call: { returns: 'fresh', data: true } },
  },
} satisfies PackageModel;

export const streamPromises = {
  name: 'stream/promises',
  module: { members: stream.module.members.promises.members },
} satisfies PackageModel;

export const streamConsumers = {
  name: 'stream/consumers',
  module: { members: promising('arrayBuffer blob buffer bytes text json', { mutates: [0] }) },
} satisfies PackageModel;
