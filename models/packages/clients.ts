/** Packages that make HTTP requests, and the like. */
import type { Members } from '../build.js';
import {
  callbackOrPromise,
  calls,
  chained,
  each,
  mutating,
  post,
  promising,
  pure,
  start,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['network'] as const;
const fetched: Call = { promise: true, returns: 'fresh', does };

const AXIOS: Members = {
  ...promising('get delete head options post put patch request postForm putForm patchForm', { does }),
  ...pure('getUri'),
  ...values('defaults interceptors'),
};

export const axios = {
  name: 'axios',
  module: withDefault({
    call: fetched,
    members: {
      ...AXIOS,
      ...calls('create', { returns: 'axios.Instance', keeps: [-1], connects: true }),
      ...pure('isAxiosError isCancel mergeConfig toFormData'),
      ...promising('all', { returns: 'copy 0' }),
      ...each('AxiosError CanceledError Cancel', { construct: { returns: 'Error', keeps: [-1] } }),
    },
  }),
  types: { Instance: { identity: true, members: AXIOS, call: fetched } },
} satisfies PackageModel;

export const nodeFetch = {
  name: 'node-fetch',
  module: withDefault({
    call: { promise: true, returns: 'Response', does },
    members: each('Headers Response FormData', { construct: { returns: 'unknown' } }),
  }),
} satisfies PackageModel;

export const crossFetch = {
  name: 'cross-fetch',
  module: withDefault({
    call: { promise: true, returns: 'Response', does },
    members: each('fetch', { call: { promise: true, returns: 'Response', does } }),
  }),
} satisfies PackageModel;

const GOT = each('get post put patch head delete', { call: { returns: 'got.Request', does } });

export const got = {
  name: 'got',
  module: withDefault({
    call: { returns: 'got.Request', does },
    members: {
      ...GOT,
      stream: { call: { returns: 'stream.Duplex', does } },
      extend: { call: { returns: 'got.Instance', keeps: [-1], connects: true } },
    },
  }),
  types: {
    Instance: { identity: true, members: GOT, call: { returns: 'got.Request', does } },
    Request: {
      extends: 'Promise',
      resolves: 'fresh',
      members: { ...promising('json text buffer'), ...mutating('cancel') },
    },
  },
} satisfies PackageModel;

export const superagent = {
  name: 'superagent',
  module: {
    call: { returns: 'superagent.Request', does },
    members: {
      ...each('get post put patch delete del head options', { call: { returns: 'superagent.Request', does } }),
      ...values('serialize parse buffer'),
    },
  },
  types: {
    Request: {
      extends: 'Promise',
      resolves: 'fresh',
      members: {
        ...chained(`set query send type accept auth attach field timeout retry redirects responseType ok buffer parse
          serialize withCredentials ca cert key pfx unset`),
        end: { call: { ruptures: [post(0, ['fresh', 'fresh'])], returns: 'this', mutates: ['this'], does } },
        pipe: { call: { returns: 'argument 0', mutates: ['this', 0], does } },
        ...mutating('abort'),
      },
    },
  },
} satisfies PackageModel;

const requested: Call = {
  ruptures: [post('last', ['fresh', 'http.ClientResponse', 'fresh'])],
  returns: 'request.Request',
  does,
};

export const request = {
  name: 'request',
  module: {
    call: requested,
    members: { ...each('get head options post put patch del delete', { call: requested }), ...pure('jar cookie') },
  },
  types: {
    Request: {
      extends: 'stream.Duplex',
      members: { ...chained('auth form json oauth aws qs jar setHeader'), ...mutating('abort') },
      events: { response: { params: ['http.ClientResponse'], once: true } },
    },
  },
} satisfies PackageModel;

export const nodemailer = {
  name: 'nodemailer',
  module: {
    members: {
      ...calls('createTransport', { returns: 'nodemailer.Transporter', keeps: [-1], connects: true }),
      ...callbackOrPromise('createTestAccount', { does }),
      ...pure('getTestMessageUrl'),
    },
  },
  types: {
    Transporter: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        ...callbackOrPromise('sendMail verify', { does }),
        ...mutating('close use'),
        isIdle: { call: { returns: 'fresh' } },
      },
    },
  },
} satisfies PackageModel;

export const httpProxy = {
  name: 'http-proxy',
  module: {
    members: each('createProxyServer createServer createProxy', {
      call: { returns: 'http-proxy.Proxy', keeps: [-1], connects: true },
    }),
  },
  types: {
    Proxy: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        ...each('web ws', { call: { ruptures: [start('last', ['fresh'])], returns: 'fresh', mutates: [0, 1], does } }),
        ...mutating('listen close', { does }),
      },
    },
  },
} satisfies PackageModel;

export const httpProxyMiddleware = {
  name: 'http-proxy-middleware',
  module: {
    members: each('createProxyMiddleware', {
      call: { returns: 'express.Middleware', keeps: [-1], connects: true, does },
    }),
  },
} satisfies PackageModel;
