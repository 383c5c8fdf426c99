import type { Members } from '../build.js';
import { callbackLast, calls, chained, classes, constants, mutating, promising, pure, values } from '../build.js';
import type { PackageModel, TypeModel } from '../types.js';

const does = ['random'] as const;

/** Also the members of the global `crypto`. */
export const webCrypto: Members = {
  subtle: {
    members: {
      ...promising(`digest sign verify encrypt decrypt importKey exportKey deriveBits deriveKey wrapKey unwrapKey`),
      ...promising('generateKey', { does }),
    },
  },
  ...calls('randomUUID', { does }),
  getRandomValues: { call: { does, mutates: [0], returns: 'argument 0' } },
};

/** `update` collects, the other one ends it. */
const digester = (ending: string, more: Members = {}): TypeModel => ({
  extends: 'stream.Transform',
  members: { ...chained('update', { keeps: [] }), ...mutating(ending), ...more },
});

export const crypto = {
  name: 'crypto',
  module: {
    members: {
      ...callbackLast('randomBytes pseudoRandomBytes prng rng randomInt generateKeyPair generateKey generatePrime', {
        does,
      }),
      ...callbackLast('pbkdf2 scrypt hkdf checkPrime diffieHellman sign verify argon2 encapsulate decapsulate'),
      ...callbackLast('randomFill', { does, mutates: [0] }, ['fresh', 'argument 0']),
      ...calls('randomFillSync', { does, mutates: [0], returns: 'argument 0' }),
      ...calls('randomUUID randomUUIDv7 generateKeyPairSync generateKeySync generatePrimeSync', { does }),
      ...calls('publicEncrypt privateEncrypt', { does }),
      ...pure(`pbkdf2Sync scryptSync hkdfSync checkPrimeSync timingSafeEqual hash privateDecrypt publicDecrypt
        getCiphers getCipherInfo getCurves getHashes argon2Sync`),
      ...pure('createHash', 'crypto.Hash'),
      ...pure('createHmac', 'crypto.Hmac'),
      ...pure('createCipheriv', 'crypto.Cipheriv'),
      ...pure('createDecipheriv', 'crypto.Decipheriv'),
      ...pure('createSign', 'crypto.Sign'),
      ...pure('createVerify', 'crypto.Verify'),
      ...calls('createDiffieHellman createDiffieHellmanGroup getDiffieHellman', { does, returns: 'crypto.Exchange' }),
      ...pure('createECDH', 'crypto.Exchange'),
      ...pure('createPrivateKey createPublicKey createSecretKey', 'crypto.KeyObject'),
      ...classes('Hash Hmac Cipheriv Decipheriv Sign Verify X509Certificate KeyObject', (name) => `crypto.${name}`),
      ...classes('DiffieHellman DiffieHellmanGroup', () => 'crypto.Exchange', { does }),
      ECDH: { construct: { returns: 'crypto.Exchange' }, members: pure('convertKey') },
      ...calls('setEngine setFips', { does: ['process'], stateful: true }),
      ...calls('getFips secureHeapUsed', { stateful: true }),
      ...constants('constants'),
      webcrypto: { members: webCrypto },
      ...webCrypto,
    },
  },
  types: {
    Hash: digester('digest', pure('copy', 'crypto.Hash')),
    Hmac: digester('digest'),
    Cipheriv: digester('update final', { ...chained('setAutoPadding setAAD'), ...pure('getAuthTag') }),
    Decipheriv: digester('update final', chained('setAutoPadding setAuthTag setAAD')),
    Sign: {
      extends: 'stream.Writable',
      members: { ...chained('update', { keeps: [] }), ...mutating('sign', { does }) },
    },
    Verify: { extends: 'stream.Writable', members: { ...chained('update', { keeps: [] }), ...mutating('verify') } },
    Exchange: {
      members: {
        ...mutating('generateKeys', { does }),
        ...mutating('setPublicKey setPrivateKey'),
        ...pure('computeSecret getPrime getGenerator getPublicKey getPrivateKey'),
      },
    },
    KeyObject: {
      travels: 'clone',
      members: {
        ...pure('export equals toCryptoKey'),
        ...constants('type asymmetricKeyType asymmetricKeyDetails symmetricKeySize'),
      },
    },
    X509Certificate: {
      members: {
        ...pure('checkHost checkEmail checkIP checkIssued checkPrivateKey verify toLegacyObject toString toJSON'),
        ...values('publicKey raw issuerCertificate'),
        ...constants('subject issuer validFrom validTo fingerprint fingerprint256 fingerprint512 serialNumber ca'),
      },
    },
  },
} satisfies PackageModel;
