/** Bytes: compressed, packed, enciphered. */
import {
  callbackOrPromise,
  calls,
  chained,
  configures,
  constants,
  each,
  promising,
  pure,
  withDefault,
} from '../build.js';
import type { Member, PackageModel } from '../types.js';

const one = (name: string, module: Member): PackageModel => ({ name, module });

const jszip = {
  name: 'jszip',
  module: withDefault({
    construct: { returns: 'jszip.Archive' },
    call: { returns: 'jszip.Archive' },
    members: {
      ...promising('loadAsync', { returns: 'jszip.Archive' }),
      ...constants('support version'),
    },
  }),
  types: {
    // An archive, a folder of it, a file in it.
    Archive: {
      identity: true,
      members: {
        file: { call: { returns: 'this', mutates: ['this'], keeps: [-1], does: ['clock'] } },
        folder: { call: { returns: 'this', mutates: ['this'], does: ['clock'] } },
        ...chained('remove'),
        ...promising('loadAsync', { returns: 'this', mutates: ['this'] }),
        ...promising('generateAsync async'),
        ...calls('generateNodeStream nodeStream', { returns: 'stream.Readable' }),
        ...each('forEach filter', {
          call: { ruptures: [{ kind: 'sync', callback: 0, params: ['fresh', 'this'] }], returns: 'this' },
        }),
      },
    },
  },
} satisfies PackageModel;

const PROTOBUF_TYPES = 'lookup lookupType lookupEnum lookupService lookupTypeOrEnum get resolve resolveAll add define';
const protobuf = {
  name: 'protobufjs',
  module: withDefault({
    members: {
      parse: { call: { returns: 'protobufjs.Reflection' } },
      ...callbackOrPromise('load', { returns: 'protobufjs.Reflection', does: ['files'] }, [
        'fresh',
        'protobufjs.Reflection',
      ]),
      ...calls('loadSync', { returns: 'protobufjs.Reflection', does: ['files'] }),
      Root: {
        construct: { returns: 'protobufjs.Reflection' },
        members: each('fromJSON', { call: { returns: 'protobufjs.Reflection', mutates: [1] } }),
      },
      ...each('Type Field Enum Namespace MapField OneOf', {
        construct: { returns: 'protobufjs.Reflection', keeps: [-1] },
      }),
    },
  }),
  types: {
    Reflection: {
      identity: true,
      members: {
        ...chained(PROTOBUF_TYPES),
        ...pure('lookupType lookupEnum', 'this'),
        ...each('encode encodeDelimited', { call: { returns: 'protobufjs.Writer | argument 1', mutates: [1] } }),
        ...pure('decode decodeDelimited verify toJSON'),
        ...each('create fromObject', { call: { returns: 'protobufjs.Message', keeps: [-1] } }),
        ...pure('toObject', 'unknown'),
        root: { is: 'protobufjs.Reflection' },
      },
    },
    Message: { members: pure('toJSON') },
    Writer: { members: { ...pure('finish'), ...chained('ldelim fork reset') } },
  },
} satisfies PackageModel;

const avsc = {
  name: 'avsc',
  module: {
    members: {
      Type: {
        members: {
          ...each('forSchema', { call: { returns: 'avsc.Type', mutates: [1], keeps: [1] } }),
          ...each('forValue', { call: { returns: 'avsc.Type', mutates: [1], keeps: [1] } }),
        },
      },
      ...each('parse', { call: { returns: 'avsc.Type', mutates: [1], keeps: [1], does: ['files'] } }),
    },
  },
  types: {
    Type: {
      identity: true,
      members: {
        ...pure('toBuffer toString fingerprint equals compare compareBuffers schema getSchema toJSON'),
        ...pure('fromBuffer fromString clone', 'unknown'),
        ...pure('isValid'),
      },
    },
  },
} satisfies PackageModel;

const ZLIB = 'deflate deflateRaw gzip inflate inflateRaw ungzip';
const FFLATE = `deflateSync inflateSync gzipSync gunzipSync compressSync decompressSync zlibSync unzlibSync zipSync unzipSync
  strToU8 strFromU8`;

export const binaryModels: readonly PackageModel[] = [
  one('pako', withDefault({ members: pure(ZLIB) })),
  one('fflate', { members: pure(FFLATE) }),
  jszip,
  one('msgpackr', { members: pure('pack unpack encode decode') }),
  one('@msgpack/msgpack', { members: pure('encode decode') }),
  one('bson', {
    members: {
      ...pure('serialize deserialize calculateObjectSize'),
      ...configures('setInternalBufferSize'),
      EJSON: { members: pure('parse stringify serialize deserialize') },
    },
  }),
  protobuf,
  avsc,
];
