import type { Members } from '../build.js';
import {
  callbackLast,
  calls,
  chained,
  classes,
  constants,
  each,
  mutating,
  post,
  pure,
  start,
  sync,
  values,
} from '../build.js';
import type { Call, PackageModel, Rupture, TypeModel, ValueRef } from '../types.js';

const METHODS = `acl bind checkout connect copy delete get head link lock m-search merge mkactivity mkcalendar mkcol move
  notify options patch post propfind proppatch purge put query rebind report search source subscribe trace unbind unlink
  unlock unsubscribe`;

/** What all requests and all responses inherit from. */
const prototypes: Members = { request: { lends: 'express.Request' }, response: { lends: 'express.Response' } };

/** What all apps have, as each of them is given the same functions. */
const ofApps: Members = { application: { lends: 'express.Application' } };

/** Routing methods of apps, routers and routes whose handlers get `exchange`: a request, a response and `next`. */
export function routing(exchange: readonly ValueRef[]): {
  readonly path: Members;
  readonly route: Members;
  readonly verb: Call;
} {
  const errorParams = ['fresh', ...exchange];
  const handlers = (from: number, rest: Partial<Rupture>): Call => ({
    ruptures: [start('functions', exchange, { from, ...rest, request: true, errorParams })],
    returns: 'this',
    mutates: ['this'],
    keeps: [-1],
  });
  return {
    path: {
      ...each(`${METHODS} all del`, { call: handlers(1, { label: 0 }) }),
      use: { call: handlers(0, { label: 0, mounts: true }) },
      param: {
        call: {
          ruptures: [start('functions', [...exchange, 'fresh', 'fresh'], { from: 0, label: 0, request: true })],
          returns: 'this',
          mutates: ['this'],
          keeps: [-1],
        },
      },
    },
    route: each(`${METHODS} all`, { call: handlers(0, {}) }),
    // Of all that could be called by such a name, only verbs are: `app[method](path, handler)`.
    verb: handlers(1, { label: 0 }),
  };
}

const { path, route, verb } = routing(['express.Request', 'express.Response', 'express.Next']);

const APPLICATION: TypeModel = {
  extends: 'events.EventEmitter',
  identity: true,
  one: true,
  holdsStored: true,
  computed: verb,
  members: {
    ...path,
    // With one argument `get` reads a setting, with a path and handlers it is a route: both are covered by `functions`.
    ...chained('set enable disable'),
    ...pure('enabled disabled path'),
    ...mutating('init defaultConfiguration lazyrouter'),
    engine: {
      call: {
        ruptures: [sync(1, ['fresh', 'unknown', 'express.Rendered'], { runBy: 'render' })],
        returns: 'this',
        mutates: ['this'],
        keeps: [1],
      },
    },
    route: { call: { returns: 'express.Route', mutates: ['this'] } },
    ...callbackLast('render', { does: ['files'], runs: 'render' }, ['fresh', 'fresh']),
    listen: {
      call: {
        ruptures: [post('last', ['fresh'], { thisIsResult: true })],
        returns: 'http.Server',
        mutates: ['this'],
        does: ['network'],
      },
    },
    configure: {
      call: { ruptures: [{ kind: 'sync', callback: 'last', params: [] }], returns: 'this', mutates: ['this'] },
    },
    // In Express 3 it can be called.
    locals: { call: { returns: 'fresh', mutates: ['this'], keeps: [0] }, runBy: 'render', holdsStored: true },
    settings: { isKept: true },
    ...values('engines cache mountpath parent'),
    ...prototypes,
    router: { is: 'express.Router' },
  },
  events: { mount: { params: ['express.Application'] } },
};

const REQUEST: Members = {
  ...pure(`accepts acceptsCharset acceptsCharsets acceptsEncoding acceptsEncodings acceptsLanguage acceptsLanguages
    accepted is range`),
  ...pure('get header'),
  ...pure('param', 'contents'),
  ...values('body cookies files file params query secret signedCookies'),
  route: { is: 'express.Route' },
  ...constants(`baseUrl fresh host hostname ip ips originalUrl path protocol secure stale subdomains xhr`),
  app: { is: 'express.Application' },
  res: { is: 'express.Response' },
  next: { is: 'express.Next' },
  // What the session and sign-in middlewares put there.
  session: { is: 'express-session.Session' },
  ...callbackLast('login logIn logout logOut', { mutates: ['this'], keeps: [0], stateful: true }, ['fresh']),
  sessionStore: { is: 'express-session.Store' },
  ...constants('sessionID'),
  // Methods that these middlewares put on the request object itself: no message carries them.
  ...calls('isAuthenticated isUnauthenticated', { stateful: true }),
  ...mutating('flash', { returns: 'contents', keeps: [-1], stateful: true }),
};

const RESPONSE: Members = {
  ...chained('cookie', { keeps: [] }),
  ...chained(
    `append attachment clearCookie contentType header json jsonp links location send sendStatus set status type vary`,
    { keeps: [], data: true },
  ),
  ...pure('get'),
  ...mutating('redirect'),
  ...callbackLast('sendFile sendfile download', { mutates: ['this'], does: ['files'] }, ['fresh']),
  ...callbackLast('render', { mutates: ['this'], does: ['files'], runs: 'render' }, ['fresh', 'fresh']),
  ...chained('format', {
    keeps: [],
    ruptures: [sync(0, ['express.Request', 'express.Response', 'express.Next'], { within: '*' })],
  }),
  locals: { runBy: 'render', holdsStored: true },
  app: { is: 'express.Application' },
  req: { is: 'express.Request' },
};

/** A middleware without memory of its own: each loop may have one. */
const middleware: Call = { returns: 'express.Middleware', keeps: [-1], connects: true };

const MIDDLEWARE_3 = `basicAuth bodyParser cookieParser cookieSession csrf directory errorHandler favicon limit
  methodOverride multipart responseTime timeout vhost compress`;

export const express = {
  name: 'express',
  module: {
    call: { returns: 'express.Application' },
    members: {
      ...each('createServer', { call: { returns: 'express.Application' } }),
      Router: {
        call: { returns: 'express.Router', keeps: [0] },
        construct: { returns: 'express.Router', keeps: [0] },
      },
      ...classes('Route', () => 'express.Route'),
      ...each('json urlencoded raw text query static', { call: middleware }),
      ...each(MIDDLEWARE_3, { call: middleware }),
      logger: { call: { ...middleware, does: ['output'] } },
      ...each('session staticCache', { call: { returns: 'express.Middleware', keeps: [-1], stateful: true } }),
      ...values('mime'),
      ...prototypes,
      ...ofApps,
    },
  },
  types: {
    Application: APPLICATION,
    Router: {
      identity: true,
      computed: verb,
      members: { ...path, route: { call: { returns: 'express.Route', mutates: ['this'] } }, ...values('stack params') },
    },
    Route: { identity: true, label: 0, outlivesRequest: true, members: { ...route, ...values('path stack methods') } },
    Request: { extends: 'http.IncomingMessage', holdsStored: true, members: REQUEST },
    Response: { extends: 'http.ServerResponse', holdsStored: true, members: RESPONSE },
    Next: { travels: 'bridge', perRequest: true, members: {}, call: { returns: 'fresh', keeps: [0] } },
    /** What middleware gives functions of the app, to be told what these have found. */
    Done: { perRequest: true, members: {}, call: { returns: 'fresh', keeps: [-1] } },
    /** What a view engine calls with what it has made. */
    Rendered: { members: {}, call: { returns: 'fresh', data: true } },
    Middleware: {
      members: {},
      call: { ruptures: [post(2, ['fresh'])], returns: 'fresh', mutates: [0, 1] },
    },
  },
} satisfies PackageModel;
