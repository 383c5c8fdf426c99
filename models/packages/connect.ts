import { callbackLast, each, start } from '../build.js';
import type { PackageModel } from '../types.js';
import { routing } from './express.js';

const EXCHANGE = ['http.IncomingMessage', 'http.ServerResponse', 'express.Next'] as const;

export const connect = {
  name: 'connect',
  putsGiven: ['remoteUser', 'user'],
  module: { call: { returns: 'connect.Server' } },
  types: {
    Server: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        use: {
          call: {
            ruptures: [
              start('functions', EXCHANGE, {
                from: 0,
                label: 0,
                mounts: true,
                request: true,
                errorParams: ['fresh', ...EXCHANGE],
              }),
            ],
            returns: 'this',
            mutates: ['this'],
            keeps: [-1],
          },
        },
        ...callbackLast('listen', { returns: 'http.Server', mutates: ['this'], does: ['network'] }, []),
        ...each('route stack', {}),
      },
    },
  },
} satisfies PackageModel;

const { path, route } = routing(EXCHANGE);

/** The router of Express 5, by itself. */
export const router = {
  name: 'router',
  module: {
    call: { returns: 'router.Router', keeps: [0] },
    construct: { returns: 'router.Router', keeps: [0] },
    members: { Route: { construct: { returns: 'router.Route' } } },
  },
  types: {
    Router: { identity: true, members: { ...path, route: { call: { returns: 'router.Route', mutates: ['this'] } } } },
    Route: { identity: true, label: 0, members: route },
  },
} satisfies PackageModel;
