import { callbackLast, calls, chained, constants, mutating, post, pure, start, values } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const serve: Call = { ruptures: [start('last', ['tls.TLSSocket'])], returns: 'tls.Server', keeps: [-1] };

export const tls = {
  name: 'tls',
  module: {
    members: {
      connect: { call: { ruptures: [post('last', [])], returns: 'tls.TLSSocket', does: ['network'] } },
      createServer: { call: serve },
      Server: { call: serve, construct: serve },
      TLSSocket: { construct: { returns: 'tls.TLSSocket', keeps: [-1] } },
      ...pure('createSecureContext getCiphers checkServerIdentity getCACertificates'),
      ...calls('convertALPNProtocols', { mutates: [1] }),
      ...calls('setDefaultCACertificates', { stateful: true }),
      ...constants('rootCertificates CLIENT_RENEG_LIMIT CLIENT_RENEG_WINDOW'),
      ...values('DEFAULT_CIPHERS DEFAULT_ECDH_CURVE DEFAULT_MIN_VERSION DEFAULT_MAX_VERSION'),
    },
  },
  types: {
    Server: {
      extends: 'net.Server',
      identity: true,
      members: {
        ...mutating('addContext setSecureContext setTicketKeys'),
        ...pure('getTicketKeys'),
      },
      events: {
        secureConnection: { params: ['tls.TLSSocket'] },
        tlsClientError: { params: ['fresh', 'tls.TLSSocket'] },
      },
    },
    TLSSocket: {
      extends: 'net.Socket',
      members: {
        ...pure(`getPeerCertificate getCertificate getPeerX509Certificate getX509Certificate getCipher
          getSharedSigalgs getEphemeralKeyInfo getFinished getPeerFinished getProtocol getSession getTLSTicket
          isSessionReused exportKeyingMaterial`),
        ...chained('disableRenegotiation enableTrace setMaxSendFragment setServername setSession', {
          returns: 'fresh',
        }),
        ...callbackLast('renegotiate', { mutates: ['this'] }),
        ...constants('authorized authorizationError alpnProtocol encrypted'),
      },
      events: { secureConnect: { params: [], once: true }, session: { params: ['fresh'] } },
    },
  },
} satisfies PackageModel;
