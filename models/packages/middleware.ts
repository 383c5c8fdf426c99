import type { Members } from '../build.js';
import { each, listed, pure, values } from '../build.js';
import type { Call, OutsideEffect, PackageModel } from '../types.js';

/** Makes a middleware that remembers nothing between requests, so each loop may have one. */
const plain: Call = { returns: 'express.Middleware', keeps: [-1], connects: true };
/** Makes a middleware that remembers: counts, sessions, uploads in progress. */
const remembering: Call = { returns: 'express.Middleware', keeps: [-1], stateful: true };

function makes(call: Call, members: Members = {}): (name: string) => PackageModel {
  return (name) => ({ name, module: { call, members } });
}

const doing = (...does: OutsideEffect[]): Call => ({ ...plain, does });

const PLAIN = `compression connect-flash cors csurf errorhandler hpp method-override response-time serve-favicon
  serve-index vhost`;
const REMEMBERING = `express-slow-down`;

const withMembers: readonly PackageModel[] = [
  makes(plain, each('json urlencoded raw text', { call: plain }))('body-parser'),
  makes(plain, {
    ...pure('JSONCookie signedCookie'),
    JSONCookies: { call: { returns: 'argument 0', mutates: [0] } },
    // Those with a signature that is right are taken out of what it is given.
    signedCookies: { call: { returns: 'fresh', mutates: [0] } },
  })('cookie-parser'),
  makes(
    plain,
    each(
      `contentSecurityPolicy crossOriginEmbedderPolicy crossOriginOpenerPolicy crossOriginResourcePolicy
      dnsPrefetchControl frameguard hidePoweredBy hsts ieNoOpen noSniff originAgentCluster permittedCrossDomainPolicies
      referrerPolicy xssFilter`,
      { call: plain },
    ),
  )('helmet'),
  makes(plain, values('mime'))('serve-static'),
  makes(plain)('cookie-session'),
  makes(doing('output'), {
    ...each('format token', { call: { returns: 'this', mutates: ['this'], keeps: [-1], stateful: true } }),
    compile: { call: { returns: 'unknown' } },
  })('morgan'),
  makes(doing('network'))('express-http-proxy'),
  makes(doing('files'))('express-fileupload'),
  {
    name: 'express-rate-limit',
    module: {
      call: remembering,
      members: {
        ...each('rateLimit default', { call: remembering }),
        MemoryStore: { construct: { returns: 'unknown', stateful: true } },
      },
    },
  },
  {
    name: 'multer',
    module: {
      call: { returns: 'multer.Multer', keeps: [-1], connects: true },
      members: {
        memoryStorage: { call: { returns: 'unknown', connects: true } },
        diskStorage: { call: { returns: 'unknown', keeps: [-1], connects: true, does: ['files'] } },
        MulterError: { construct: { returns: 'Error' } },
      },
    },
    types: { Multer: { members: each('single array fields none any', { call: doing('files') }) } },
  },
  {
    name: 'express-session',
    module: {
      call: remembering,
      members: {
        MemoryStore: { construct: { returns: 'unknown', stateful: true } },
        ...values('Store Cookie Session'),
      },
    },
    types: {
      Store: { members: {}, outlivesRequest: true },
      // What a handler changes in it is stored when the reply ends, by the loop that has the store.
      Session: {
        perRequest: true,
        holdsData: true,
        members: {
          ...each('regenerate destroy reload save', {
            call: {
              ruptures: [{ kind: 'post', callback: 0, params: ['fresh'] }],
              returns: 'this',
              mutates: ['this'],
              stateful: true,
            },
          }),
          ...each('touch resetMaxAge', { call: { returns: 'this', mutates: ['this'] } }),
          ...values('cookie id'),
        },
      },
    },
  },
  {
    name: 'passport',
    module: {
      members: {
        ...each('initialize session authenticate authorize', { call: remembering }),
        ...each('use unuse', { call: { returns: 'this', mutates: ['this'], keeps: [-1], stateful: true } }),
        ...each('serializeUser deserializeUser', {
          call: {
            ruptures: [{ kind: 'start', callback: 0, params: ['unknown', 'unknown'] }],
            returns: 'fresh',
            mutates: ['this'],
            keeps: [0],
            stateful: true,
          },
        }),
      },
    },
  },
];

export const middlewares: readonly PackageModel[] = [
  ...listed(PLAIN).map(makes(plain)),
  { ...makes(plain)('connect-timeout'), setsLater: ['timedout'] },
  ...listed(REMEMBERING).map(makes(remembering)),
  ...withMembers,
];
