/** The packages that Express apps use most, in the order of their files. */
import type { PackageModel } from '../types.js';
import { async } from './async.js';
import { argon2, bcrypt, bcryptjs, jsonwebtoken } from './auth.js';
import { binaryModels } from './binary.js';
import { lruCache, memoryCache, nodeCache } from './caches.js';
import { chartModels } from './charts.js';
import {
  axios,
  crossFetch,
  got,
  httpProxy,
  httpProxyMiddleware,
  nodeFetch,
  nodemailer,
  request,
  superagent,
} from './clients.js';
import { compilerModels } from './compilers.js';
import { connect, router } from './connect.js';
import { dateFns, dayjs, dayjsPlugins, luxon, moment, momentTimezone } from './dates.js';
import { drizzleModels } from './drizzle.js';
import { express } from './express.js';
import {
  busboy,
  chokidar,
  formidable,
  fsExtra,
  glob,
  gracefulFs,
  mkdirp,
  onFinished,
  onHeaders,
  rawBody,
  rimraf,
  send,
  sharp,
  vary,
} from './files.js';
import { agenda, bull, bullmq, cron, nodeCron, nodeSchedule } from './jobs.js';
import { koa, koaRouter, koaRouterScoped } from './koa.js';
import { lodash, underscore } from './lodash.js';
import { bunyan, config, debug, dotenv, expressPinoLogger, pino, pinoHttp, promClient, winston } from './logging.js';
import { knex, sequelize } from './mappers.js';
import { markupModels } from './markup.js';
import { mcpServer, mcpTransport } from './mcp.js';
import { middlewares } from './middleware.js';
import { mongodb, mongoose } from './mongo.js';
import { numberModels } from './numbers.js';
import { passportStrategies } from './passport.js';
import { prisma } from './prisma.js';
import { bluebird, expressAsyncErrors, expressAsyncHandler, pLimit, pMap, q } from './promises.js';
import { ioredis, redis } from './redis.js';
import { renderingModels } from './rendering.js';
import { searchModels } from './search.js';
import { securityModels } from './security.js';
import { awsDynamo, awsPresigner, awsS3, awsSes, awsSns, awsSqs, openai, stripe } from './services.js';
import { settingModels } from './settings.js';
import { eventemitter3, gifsockets, socketIo, ws } from './sockets.js';
import { mysql, mysql2, mysql2Promise, pg } from './sql.js';
import { betterSqlite3, sqlite3 } from './sqlite.js';
import { storeModels } from './stores.js';
import { ejs, handlebars, markdownIt, marked, mustache, nunjucks, pug } from './templates.js';
import { textModels } from './text.js';
import {
  ajv,
  ajvPlugins,
  celebrate,
  classTransformer,
  expressJoiValidation,
  expressValidator,
  joi,
  joiScoped,
  validator,
  yup,
  zod,
  zodExpressMiddleware,
  zodPaths,
} from './validation.js';
import { valueModels } from './values.js';
import { viewModels } from './views.js';

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
  stripe,
  openai,
  awsS3,
  awsDynamo,
  awsSes,
  awsSns,
  awsSqs,
  awsPresigner,
  httpProxy,
  httpProxyMiddleware,
  connect,
  router,
  moment,
  momentTimezone,
  dayjs,
  ...dayjsPlugins,
  luxon,
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
  pinoHttp,
  expressPinoLogger,
  bunyan,
  debug,
  promClient,
  dotenv,
  config,
  sequelize,
  knex,
  ...drizzleModels,
  ...middlewares,
  ...passportStrategies,
  prisma,
  mcpServer,
  mcpTransport,
  mongodb,
  mongoose,
  bluebird,
  q,
  pLimit,
  pMap,
  expressAsyncHandler,
  expressAsyncErrors,
  redis,
  ioredis,
  socketIo,
  ws,
  eventemitter3,
  gifsockets,
  mysql,
  mysql2,
  mysql2Promise,
  pg,
  sqlite3,
  betterSqlite3,
  ejs,
  pug,
  handlebars,
  mustache,
  nunjucks,
  marked,
  markdownIt,
  ...storeModels,
  ...textModels,
  joi,
  joiScoped,
  zod,
  ...zodPaths,
  yup,
  ajv,
  ...ajvPlugins,
  validator,
  celebrate,
  classTransformer,
  expressJoiValidation,
  expressValidator,
  zodExpressMiddleware,
  ...renderingModels,
  ...markupModels,
  ...compilerModels,
  ...numberModels,
  ...binaryModels,
  ...searchModels,
  ...chartModels,
  ...securityModels,
  ...settingModels,
  ...valueModels,
  ...viewModels,
];
