/** The packages that Express apps use most, in the order of their files. */
import type { PackageModel } from '../types.js';
import { async } from './async.js';
import { jsonwebtoken, bcrypt, bcryptjs, argon2 } from './auth.js';
import { lruCache, nodeCache, memoryCache } from './caches.js';
import { axios, nodeFetch, crossFetch, got, superagent, request, nodemailer, httpProxy, httpProxyMiddleware } from './clients.js';
import { connect, router } from './connect.js';
import { mongodb, mongoose, mysql, mysql2, mysql2Promise, pg, redis, ioredis, sequelize, knex, sqlite3, betterSqlite3 } from './databases.js';
import { moment, dayjs, dateFns } from './dates.js';
import { express } from './express.js';
import { gracefulFs, fsExtra, glob, mkdirp, rimraf, chokidar, rawBody, onFinished, onHeaders, send, vary, formidable, busboy, sharp } from './files.js';
import { nodeCron, cron, nodeSchedule, bull, bullmq, agenda } from './jobs.js';
import { koa, koaRouter, koaRouterScoped } from './koa.js';
import { lodash, underscore } from './lodash.js';
import { winston, pino, bunyan, debug, promClient, dotenv } from './logging.js';
import { middlewares } from './middleware.js';
import { bluebird, q, pLimit, pMap, expressAsyncHandler } from './promises.js';
import { socketIo, ws, eventemitter3 } from './sockets.js';
import { ejs, pug, handlebars, mustache, nunjucks, marked } from './templates.js';
import { textModels } from './text.js';
import { joi, joiScoped, zod, yup, ajv, validator, expressValidator } from './validation.js';

export const packageModels: readonly PackageModel[] = [
  async,
  jsonwebtoken,
  bcrypt,
  bcryptjs,
  argon2,
  lruCache,
  nodeCache,
  memoryCache,
  axios,
  nodeFetch,
  crossFetch,
  got,
  superagent,
  request,
  nodemailer,
  httpProxy,
  httpProxyMiddleware,
  connect,
  router,
  mongodb,
  mongoose,
  mysql,
  mysql2,
  mysql2Promise,
  pg,
  redis,
  ioredis,
  sequelize,
  knex,
  sqlite3,
  betterSqlite3,
  moment,
  dayjs,
  dateFns,
  express,
  gracefulFs,
  fsExtra,
  glob,
  mkdirp,
  rimraf,
  chokidar,
  rawBody,
  onFinished,
  onHeaders,
  send,
  vary,
  formidable,
  busboy,
  sharp,
  nodeCron,
  cron,
  nodeSchedule,
  bull,
  bullmq,
  agenda,
  koa,
  koaRouter,
  koaRouterScoped,
  lodash,
  underscore,
  winston,
  pino,
  bunyan,
  debug,
  promClient,
  dotenv,
  ...middlewares,
  bluebird,
  q,
  pLimit,
  pMap,
  expressAsyncHandler,
  socketIo,
  ws,
  eventemitter3,
  ejs,
  pug,
  handlebars,
  mustache,
  nunjucks,
  marked,
  ...textModels,
  joi,
  joiScoped,
  zod,
  yup,
  ajv,
  validator,
  expressValidator,
];
