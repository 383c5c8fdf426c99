import { each } from '../build.js';
import type { PackageModel } from '../types.js';
import { createServer, request } from './http.js';

export const https = {
  name: 'https',
  module: {
    members: {
      createServer: { call: { ...createServer, returns: 'https.Server' } },
      Server: {
        call: { ...createServer, returns: 'https.Server' },
        construct: { ...createServer, returns: 'https.Server' },
      },
      ...each('request get', { call: request }),
      Agent: { construct: { returns: 'http.Agent', connects: true } },
      globalAgent: { is: 'http.Agent' },
    },
  },
  types: {
    Server: {
      extends: 'http.Server',
      identity: true,
      members: {
        ...each('setSecureContext addContext', { call: { returns: 'fresh', mutates: ['this'], keeps: [-1] } }),
      },
    },
  },
} satisfies PackageModel;
