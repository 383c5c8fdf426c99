/** All core modules of Node, in the order of their files. */
import type { PackageModel } from '../types.js';
import { assert, assertStrict } from './assert.js';
import { asyncHooks } from './async-hooks.js';
import { buffer } from './buffer.js';
import { childProcess } from './child-process.js';
import { cluster } from './cluster.js';
import { consoleModel } from './console.js';
import { crypto } from './crypto.js';
import { dgram } from './dgram.js';
import { diagnosticsChannel } from './diagnostics-channel.js';
import { dns, dnsPromises } from './dns.js';
import { events } from './events.js';
import { fs } from './fs.js';
import { fsPromises } from './fs-promises.js';
import { http } from './http.js';
import { http2 } from './http2.js';
import { https } from './https.js';
import { inspector } from './inspector.js';
import { moduleModel } from './module.js';
import { net } from './net.js';
import { os } from './os.js';
import { path, pathPosix, pathWin32 } from './path.js';
import { perfHooks } from './perf-hooks.js';
import { process } from './process.js';
import { punycode } from './punycode.js';
import { querystring } from './querystring.js';
import { readline, readlinePromises } from './readline.js';
import { stream, streamConsumers, streamPromises } from './stream.js';
import { stringDecoder } from './string-decoder.js';
import { timers, timersPromises } from './timers.js';
import { tls } from './tls.js';
import { tty } from './tty.js';
import { url } from './url.js';
import { util, utilTypes } from './util.js';
import { v8 } from './v8.js';
import { vm } from './vm.js';
import { workerThreads } from './worker-threads.js';
import { zlib } from './zlib.js';

export const coreModels: readonly PackageModel[] = [
  assert,
  assertStrict,
  asyncHooks,
  buffer,
  childProcess,
  cluster,
  consoleModel,
  crypto,
  dgram,
  diagnosticsChannel,
  dns,
  dnsPromises,
  events,
  fsPromises,
  fs,
  http,
  http2,
  https,
  inspector,
  moduleModel,
  net,
  os,
  path,
  pathPosix,
  pathWin32,
  perfHooks,
  process,
  punycode,
  querystring,
  readline,
  readlinePromises,
  stream,
  streamPromises,
  streamConsumers,
  stringDecoder,
  timers,
  timersPromises,
  tls,
  tty,
  url,
  util,
  utilTypes,
  v8,
  vm,
  workerThreads,
  zlib,
];
