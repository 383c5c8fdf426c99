import { callbackLast, calls, chained, constants, each, pure, start, values } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const handlers = (from: number): Call => ({
  ruptures: [start('functions', ['koa.Context', 'koa.Next'], { from, label: 0, request: true })],
  returns: 'this',
  mutates: ['this'],
  keeps: [-1],
});

export const koa = {
  name: 'koa',
  module: { construct: { returns: 'koa.Application' }, call: { returns: 'koa.Application' } },
  types: {
    Application: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        use: { call: handlers(0) },
        ...callbackLast('listen', { returns: 'http.Server', mutates: ['this'], does: ['network'] }, []),
        ...values('context request response middleware env keys proxy subdomainOffset'),
      },
    },
    Context: {
      perRequest: true,
      reply: true,
      members: {
        ...pure('accepts acceptsEncodings acceptsCharsets acceptsLanguages get is'),
        ...calls('assert throw', {}),
        ...chained('set append redirect attachment remove flushHeaders', { keeps: [], returns: 'fresh' }),
        ...values('state body query params cookies header headers request response session status type url length'),
        ...constants(
          'path method host hostname href ip ips origin originalUrl protocol querystring secure fresh stale',
        ),
        req: { is: 'http.IncomingMessage' },
        res: { is: 'http.ServerResponse' },
        app: { is: 'koa.Application' },
      },
    },
    Next: { perRequest: true, members: {}, call: { promise: true, returns: 'unknown' } },
  },
} satisfies PackageModel;

const ROUTER = 'koa-router.Router';

export const koaRouter = {
  name: 'koa-router',
  module: { call: { returns: ROUTER }, construct: { returns: ROUTER } },
  types: {
    Router: {
      identity: true,
      members: {
        ...each('get post put patch delete del head options all', { call: handlers(1) }),
        use: { call: handlers(0) },
        ...chained('prefix'),
        ...pure('url'),
      },
    },
  },
} satisfies PackageModel;

export const koaRouterScoped = { ...koaRouter, name: '@koa/router' } satisfies PackageModel;
