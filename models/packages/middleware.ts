import type { Members } from '../build.js';
import { asked, askedItself, constants, each, listed, pure, values } from '../build.js';
import type { Call, OutsideEffect, PackageModel, Rupture } from '../types.js';

/** Makes a middleware that remembers nothing between requests, so each loop may have one. */
const plain: Call = { returns: 'express.Middleware', keeps: [-1], connects: true };
/** Makes a middleware that remembers: counts, sessions, uploads in progress. */
const remembering: Call = { returns: 'express.Middleware', keeps: [-1], stateful: true };

function makes(call: Call, members: Members = {}): (name: string) => PackageModel {
  return (name) => ({ name, module: { call, members } });
}

const EXCHANGE = ['express.Request', 'express.Response'] as const;

/** As `plain`, of what calls functions among its options. */
const asking = (...ruptures: readonly Rupture[]): Call => ({ ...plain, ruptures });
const doing = (...does: OutsideEffect[]): Call => ({ ...plain, does });

const PLAIN = `connect-flash errorhandler hpp serve-favicon serve-index vhost`;
const REMEMBERING = `express-slow-down`;

const withMembers: readonly PackageModel[] = [
  makes(asking(...asked('filter', EXCHANGE)), pure('filter'))('compression'),
  makes(asking(askedItself(['express.Request', 'express.Done']), ...asked('origin', ['fresh', 'express.Done'])))(
    'cors',
  ),
  makes(asking(...asked('value', ['express.Request'])))('csurf'),
  makes(asking(askedItself(EXCHANGE)))('method-override'),
  makes(asking(askedItself([...EXCHANGE, 'fresh'])))('response-time'),
  makes(plain, each('json urlencoded raw text', { call: plain }))('body-parser'),
  makes(plain)('xss-clean'),
  makes(asking(...asked('onSanitize', ['fresh'])), {
    sanitize: { call: { returns: 'argument 0', mutates: [0], deep: true } },
    has: { call: { returns: 'fresh' } },
  })('express-mongo-sanitize'),
  makes(plain, {
    ...pure('JSONCookie signedCookie'),
    JSONCookies: { call: { returns: 'argument 0', mutates: [0] } },
    // Those with a signature that is right are taken out of what it is given.
    signedCookies: { call: { returns: 'fresh', mutates: [0] } },
  })('cookie-parser'),
  makes(
    asking(
      ...asked('contentSecurityPolicy.directives.*', EXCHANGE),
      ...asked('contentSecurityPolicy.directives.*.*', EXCHANGE),
    ),
    {
      contentSecurityPolicy: { call: asking(...asked('directives.*', EXCHANGE), ...asked('directives.*.*', EXCHANGE)) },
      ...each(
        `crossOriginEmbedderPolicy crossOriginOpenerPolicy crossOriginResourcePolicy
      dnsPrefetchControl frameguard hidePoweredBy hsts ieNoOpen noSniff originAgentCluster permittedCrossDomainPolicies
      referrerPolicy xssFilter`,
        { call: plain },
      ),
    },
  )('helmet'),
  makes(asking(...asked('setHeaders', ['express.Response', 'fresh', 'fresh'], 1)), values('mime'))('serve-static'),
  makes(plain)('cookie-session'),
  {
    ...makes(
      {
        ...doing('output'),
        ruptures: [
          askedItself(['morgan.Tokens', ...EXCHANGE]),
          ...asked('skip', EXCHANGE, 1),
          ...asked('stream.write', ['fresh'], 1),
        ],
      },
      {
        // Functions that are put there are called by any format; no middleware leads to them.
        ...each('format token', { call: { returns: 'this', mutates: ['this'], keeps: [-1] } }),
        compile: { call: { returns: 'unknown' } },
      },
    )('morgan'),
    // What the program puts among them is asked one by one, wherever it is called from.
    types: { Tokens: { members: {}, others: { returns: 'fresh' } } },
  },
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
      call: {
        ruptures: asked('fileFilter', ['express.Request', 'fresh', 'express.Done']),
        returns: 'multer.Multer',
        keeps: [-1],
        connects: true,
      },
      members: {
        memoryStorage: { call: { returns: 'multer.Storage', connects: true } },
        diskStorage: {
          call: {
            ruptures: asked('destination filename', ['express.Request', 'fresh', 'express.Done']),
            returns: 'multer.Storage',
            keeps: [-1],
            connects: true,
            does: ['files'],
          },
        },
        MulterError: { construct: { returns: 'Error' } },
      },
    },
    types: {
      Multer: { members: each('single array fields none any', { call: doing('files') }) },
      Storage: { members: {} },
    },
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
    putsGiven: ['account', 'authInfo', 'user'],
    module: {
      members: {
        // It puts methods on the request; what these know is in the session.
        ...each('initialize', { call: plain }),
        ...each('session authenticate authorize', { call: remembering }),
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
    types: {
      Strategy: { members: constants('name') },
      Told: {
        extends: 'express.Request',
        members: {},
        perRequest: true,
        call: { returns: 'fresh', keeps: [-1], hangsOnRequests: { user: 1, authInfo: 2 }, data: true },
      },
    },
  },
];

const GUARDS: readonly PackageModel[] = [
  {
    name: 'express-jwt',
    module: {
      members: each('expressjwt', {
        call: {
          ruptures: asked('secret getToken isRevoked onExpired', ['express.Request', 'fresh', 'fresh']),
          returns: 'express-jwt.Guard',
          keeps: [-1],
          connects: true,
        },
      }),
    },
    types: {
      Guard: {
        extends: 'express.Middleware',
        members: { unless: { call: { ...plain, ruptures: asked('custom', ['express.Request']) } } },
      },
    },
  },
  {
    name: 'csrf-csrf',
    module: {
      members: {
        doubleCsrf: {
          call: {
            ruptures: asked(
              `getSecret getSessionIdentifier getTokenFromRequest getCsrfTokenFromRequest skipCsrfProtection`,
              ['express.Request'],
            ),
            returns: 'csrf-csrf.Double',
            keeps: [-1],
            connects: true,
          },
        },
      },
    },
    types: {
      Double: {
        members: {
          doubleCsrfProtection: { is: 'express.Middleware' },
          ...each('generateToken generateCsrfToken', { call: { returns: 'fresh', mutates: [0, 1], does: ['random'] } }),
          validateRequest: { call: { returns: 'fresh' } },
          ...constants('invalidCsrfTokenError'),
        },
      },
    },
  },
];

export const middlewares: readonly PackageModel[] = [
  ...listed(PLAIN).map(makes(plain)),
  { ...makes(plain)('connect-timeout'), setsLater: ['timedout'] },
  ...listed(REMEMBERING).map(makes(remembering)),
  ...GUARDS,
  ...withMembers,
];
