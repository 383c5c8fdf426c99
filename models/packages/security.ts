/** Keys, signatures and digests in plain JavaScript. */
import type { Members } from '../build.js';
import { calls, chained, configures, each, listed, promising, pure } from '../build.js';
import type { Call, Member, PackageModel } from '../types.js';

const fresh: Call = { returns: 'fresh' };
const one = (name: string, module: Member): PackageModel => ({ name, module });

const nacl: Member = {
  members: {
    ...calls('randomBytes', { does: ['random'] }),
    ...configures('setPRNG'),
    ...pure('scalarMult verify hash'),
    ...each('secretbox', { call: fresh, members: pure('open') }),
    ...each('box', {
      call: fresh,
      members: {
        ...pure('open before after'),
        keyPair: { call: { ...fresh, does: ['random'] }, members: pure('fromSecretKey') },
      },
    }),
    ...each('sign', {
      call: fresh,
      members: {
        ...pure('open'),
        detached: { call: fresh, members: pure('verify') },
        keyPair: { call: { ...fresh, does: ['random'] }, members: pure('fromSecretKey fromSeed') },
      },
    }),
  },
};

const KEY: Call = { returns: 'elliptic.Key', keeps: [-1] };
const elliptic = {
  name: 'elliptic',
  module: {
    members: each('ec eddsa', { construct: { returns: 'elliptic.Curve' }, call: { returns: 'elliptic.Curve' } }),
  },
  types: {
    Curve: {
      members: {
        ...each('keyFromPrivate keyFromPublic keyFromSecret keyPair', { call: KEY }),
        ...calls('genKeyPair', { ...KEY, does: ['random'] }),
        ...pure('sign', 'elliptic.Signature'),
        ...pure('verify'),
      },
    },
    Key: {
      members: {
        ...pure('sign', 'elliptic.Signature'),
        ...pure('verify derive validate inspect getSecret'),
        ...pure('getPublic getPrivate', 'elliptic.Point'),
      },
    },
    Signature: { members: pure('toDER toHex toBytes') },
    Point: { members: pure('encode encodeCompressed toString toArray getX getY eq') },
  },
} satisfies PackageModel;

const BUILDERS = 'SignJWT EncryptJWT CompactSign CompactEncrypt FlattenedSign FlattenedEncrypt UnsecuredJWT';
const jose = {
  name: 'jose',
  module: {
    members: {
      ...promising(`jwtVerify jwtDecrypt compactVerify compactDecrypt flattenedVerify flattenedDecrypt generalVerify
        generalDecrypt importJWK importPKCS8 importSPKI importX509 exportJWK exportPKCS8 exportSPKI calculateJwkThumbprint
        calculateJwkThumbprintUri`),
      ...promising('generateKeyPair generateSecret', { does: ['random'] }),
      ...pure('decodeJwt decodeProtectedHeader'),
      base64url: { members: pure('encode decode') },
      ...each(BUILDERS, { construct: { returns: 'jose.Builder', keeps: [-1] } }),
    },
  },
  types: {
    Builder: {
      identity: true,
      members: {
        ...chained(`setIssuer setSubject setAudience setJti setNotBefore setExpirationTime setIssuedAt setProtectedHeader
          setUnprotectedHeader setKeyManagementParameters setContentEncryptionKey setInitializationVector
          replicateIssuerAsHeader replicateSubjectAsHeader replicateAudienceAsHeader`),
        ...promising('sign encrypt', { does: ['random'] }),
        ...pure('encode'),
      },
    },
  },
} satisfies PackageModel;

/** What is listed is what does more than to compute from what it is given. */
const noble = (members: Members): Member => ({ members, others: fresh });
const NOBLE: { readonly [name: string]: Members } = {
  ...Object.fromEntries(
    listed('sha2 sha3 sha3-addons sha256 sha512 blake2 blake2b blake2s blake3 ripemd160 legacy hmac hkdf').map(
      (name) => [name, {}],
    ),
  ),
  pbkdf2: promising('pbkdf2Async'),
  scrypt: promising('scryptAsync'),
  argon2: promising('argon2iAsync argon2dAsync argon2idAsync'),
  utils: {
    ...calls('randomBytes', { does: ['random'] }),
    ...calls('clean', { mutates: [-1] }),
    ...calls('byteSwap32 swap32IfBE', { mutates: [0], returns: 'argument 0' }),
    ...promising('asyncLoop nextTick'),
  },
};

const DIGEST: Call = { returns: 'node-forge.Part' };
const forge = {
  name: 'node-forge',
  module: {
    members: {
      md: { members: each('md5 sha1 sha256 sha384 sha512', { members: each('create', { call: DIGEST }) }) },
      hmac: { members: each('create', { call: DIGEST }) },
      util: {
        members: {
          ...pure('encode64 decode64 bytesToHex hexToBytes encodeUtf8 decodeUtf8'),
          ...each('createBuffer', { call: { ...DIGEST, keeps: [0] } }),
        },
      },
      cipher: { members: each('createCipher createDecipher', { call: { ...DIGEST, keeps: [1] } }) },
      pkcs5: {
        members: each('pbkdf2', {
          call: { returns: 'fresh', ruptures: [{ kind: 'post', callback: 'last', params: ['fresh', 'fresh'] }] },
        }),
      },
      random: { members: calls('getBytesSync', { does: ['random'] }) },
    },
  },
  types: {
    Part: {
      identity: true,
      members: {
        ...chained('update start putByte putBytes putString putBuffer'),
        ...calls('digest getMac', { returns: 'node-forge.Part', mutates: ['this'] }),
        ...calls('finish getByte getBytes', { mutates: ['this'] }),
        ...pure('toHex bytes data length toString'),
        output: { is: 'node-forge.Part' },
        mode: { members: { tag: { is: 'node-forge.Part' } } },
      },
    },
  },
} satisfies PackageModel;

const hashids = {
  name: 'hashids',
  module: {
    construct: { returns: 'hashids.Hashids' },
    members: { default: { construct: { returns: 'hashids.Hashids' } } },
  },
  types: { Hashids: { members: pure('encode decode encodeHex decodeHex isValidId') } },
} satisfies PackageModel;

export const securityModels: readonly PackageModel[] = [
  one('tweetnacl', nacl),
  elliptic,
  jose,
  forge,
  ...Object.entries(NOBLE).flatMap(([name, members]) =>
    ['', '.js'].map((end) => one(`@noble/hashes/${name}${end}`, noble(members))),
  ),
  hashids,
];
