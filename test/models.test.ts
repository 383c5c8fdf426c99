import { createRequire } from 'node:module';
import test from 'ava';
import { byMethodName, coreModels, globals, packageModels } from '../models/index.js';
import { mergeCalls, mergeRefs } from '../models/merge-calls.js';
import type { Call, Member, PackageModel, ValueRef } from '../models/types.js';
import { allModels, impure, isObject, keyOf, membersOf, missing, typeOf } from './support/model-against.js';

const require = createRequire(import.meta.url);
// Packages say so themselves, on standard error.
process.env.NO_DEPRECATION = '*';

const NODE = Number(process.versions.node.split('.')[0]);

function core(name: string): PackageModel {
  const model = coreModels.find((one) => one.name === name);
  if (!model) throw new Error(`no model of ${name}`);
  return model;
}

function packaged(name: string): PackageModel {
  const model = packageModels.find((one) => one.name === name);
  if (!model) throw new Error(`no model of ${name}`);
  return model;
}

/** Every value that a model describes, with the path that leads to it. */
function* described(member: Member, path: string, depth = 0): Generator<readonly [string, Member]> {
  yield [path, member];
  if (depth > 3) return;
  for (const [name, inner] of Object.entries(member.members ?? {}))
    yield* described(inner, `${path}.${name}`, depth + 1);
}

function* allMembers(): Generator<readonly [string, Member]> {
  for (const model of allModels) {
    yield* described(model.module, model.name);
    for (const [name, type] of Object.entries(model.types ?? {})) {
      yield* described({ members: type.members }, `${model.name}.${name}`);
      yield [
        `${model.name}.${name}`,
        { ...(type.call && { call: type.call }), ...(type.construct && { construct: type.construct }) },
      ];
    }
  }
  for (const [name, member] of Object.entries(globals)) yield* described(member, name);
}

// --------------------------------------------------------------------------------------------- the tables themselves

const WORD =
  /^(fresh|data|this|contents|copy|iterator|step|unknown|argument \d|contents \d|within \d|formed \d|copy (\d|-1)|results? \d|instance \d|bound argument \d|promisified argument \d)$/;

function refsOf(call: Call): readonly ValueRef[] {
  const params = (call.ruptures ?? []).flatMap((rupture) => [
    ...(rupture.params ?? []),
    ...(rupture.errorParams ?? []),
  ]);
  return [...(call.returns === undefined ? [] : [call.returns]), ...params];
}

test('every value that a model names is a short word or a type of some model', (t) => {
  const wrong: string[] = [];
  const check = (path: string, ref: ValueRef): void => {
    for (const part of ref.split(' | ')) {
      const one = part.replace(/ without \d+$|^list of /g, '');
      if (!WORD.test(one) && !typeOf(one)) wrong.push(`${path}: ${one}`);
    }
  };
  for (const [path, member] of allMembers()) {
    if (member.is) check(path, member.is);
    for (const call of [member.call, member.construct, member.others]) {
      if (call) for (const ref of refsOf(call)) check(path, ref);
    }
  }
  for (const model of allModels) {
    for (const [name, type] of Object.entries(model.types ?? {})) {
      if (type.extends) check(`${model.name}.${name}`, type.extends);
      if (type.resolves) check(`${model.name}.${name}`, type.resolves);
      if (type.others) for (const ref of refsOf(type.others)) check(`${model.name}.${name}`, ref);
      for (const event of Object.values(type.events ?? {})) {
        for (const ref of event.params ?? []) check(`${model.name}.${name}`, ref);
      }
    }
  }
  t.deepEqual(wrong, []);
});

test('models are plain data, have one name each, and say what their calls give', (t) => {
  const names = [...coreModels, ...packageModels].map((model) => model.name);
  t.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  t.notThrows(() => structuredClone({ allModels, globals }));
  const silent = [...allMembers()].filter(([, member]) =>
    [member.call, member.construct].some((call) => call && call.returns === undefined),
  );
  t.deepEqual(
    silent.map(([path]) => path),
    [],
  );
});

test('types that a message can carry say so, and those that extend them do too', (t) => {
  const travels = (ref: ValueRef): string | undefined => {
    for (let type = typeOf(ref); type; type = typeOf(type.extends ?? '')) if (type.travels) return type.travels;
    return undefined;
  };
  t.is(travels('express.Request'), 'bridge');
  t.is(travels('express.Response'), 'bridge');
  t.is(travels('express.Next'), 'bridge');
  t.is(travels('Buffer'), 'clone');
  for (const ref of [
    'Promise',
    'WeakMap',
    'http.ClientResponse',
    'http.ClientRequest',
    'net.Socket',
    'express.Middleware',
  ]) {
    t.is(travels(ref), undefined, ref);
  }
});

// ------------------------------------------------------------------------------------------------- Node's core modules

/** Members that some supported versions of Node have and others do not: the first version, and the first without. */
const SINCE: { readonly [path: string]: number } = {
  'fs.glob': 22,
  'fs.globSync': 22,
  'fs.mkdtempDisposableSync': 24,
  'fs.promises.glob': 22,
  'fs.promises.mkdtempDisposable': 24,
  'fs/promises.glob': 22,
  'fs/promises.mkdtempDisposable': 24,
  'http.WebSocket': 22,
  'url.fileURLToPathBuffer': 22,
  'url.URLPattern': 24,
  'util.getSystemErrorMessage': 22,
  'util.diff': 22,
  'util.getCallSites': 22,
  'tls.getCACertificates': 22,
  'tls.setDefaultCACertificates': 22,
  'dns.resolveTlsa': 22,
  'dns.promises.resolveTlsa': 22,
  'dns/promises.resolveTlsa': 22,
  'crypto.argon2': 24,
  'crypto.argon2Sync': 24,
  'crypto.encapsulate': 24,
  'crypto.decapsulate': 24,
  'crypto.randomUUIDv7': 26,
  'assert.partialDeepStrictEqual': 22,
  'assert.strict.partialDeepStrictEqual': 22,
  'assert/strict.partialDeepStrictEqual': 22,
  'assert/strict.strict.partialDeepStrictEqual': 22,
  'worker_threads.markAsUncloneable': 22,
  'worker_threads.isMarkedAsUntransferable': 21,
  'module.stripTypeScriptTypes': 22,
  'module.registerHooks': 22,
  'module.enableCompileCache': 22,
  'module.flushCompileCache': 22,
  'v8.getCppHeapStatistics': 22,
  'process.threadCpuUsage': 22,
  'stream/consumers.bytes': 24,
};
const UNTIL: { readonly [path: string]: number } = {
  ...Object.fromEntries(
    `isArray isBoolean isBuffer isDate isError isFunction isNull isNullOrUndefined isNumber isObject isPrimitive
    isRegExp isString isSymbol isUndefined log`
      .split(/\s+/)
      .map((name) => [`util.${name}`, 23]),
  ),
  'buffer.SlowBuffer': 25,
};
/** There on some platforms, in some builds, or in a process that has a parent. */
const SOMETIMES = new Set(['process.send', 'process.disconnect', 'fs.lchmod', 'fs.lchmodSync']);
const ZSTD = /^zlib\.(zstd|createZstd|Zstd)/;

function expectedHere(path: string): boolean {
  if (SOMETIMES.has(path) || ZSTD.test(path)) return false;
  return NODE >= (SINCE[path] ?? 0) && NODE < (UNTIL[path] ?? Number.POSITIVE_INFINITY);
}

for (const model of coreModels) {
  test(`core module ${model.name} has what its model says`, (t) => {
    t.deepEqual(missing(model.module, require(`node:${model.name}`), model.name, expectedHere), []);
  });
}

/** Functions of core whose parameters say that they take a callback. */
function takesCallback(value: unknown): boolean {
  if (typeof value !== 'function') return false;
  const text = Function.prototype.toString.call(value);
  if (text.startsWith('class')) return false;
  return /callback|\bcb\b|listener/i.test(/\(([^)]*)\)/.exec(text)?.[1] ?? '');
}

/** They take a callback and call it never, or only remove it. */
const NO_RUPTURE = new Set(['fs.unwatchFile', 'events.setMaxListeners', 'util.debug', 'util.debuglog']);

for (const model of coreModels) {
  test(`every function of ${model.name} that takes a callback is modelled with it`, (t) => {
    const real: unknown = require(`node:${model.name}`);
    const members = membersOf(model.module);
    const forgotten = Object.keys(isObject(real) ? real : {}).filter((name) => {
      if (name.startsWith('_') || NO_RUPTURE.has(`${model.name}.${name}`)) return false;
      const member = members[name];
      const ruptures = [...(member?.call?.ruptures ?? []), ...(member?.construct?.ruptures ?? [])];
      return isObject(real) && takesCallback(real[name]) && ruptures.length === 0;
    });
    t.deepEqual(forgotten, []);
  });
}

function functionNames(name: string): string[] {
  const real: unknown = require(`node:${name}`);
  return isObject(real) ? Object.keys(real).filter((key) => typeof real[key] === 'function') : [];
}

test('fs, dns, zlib and crypto: each function with a synchronous or promise twin is a post rupture', (t) => {
  const twins: readonly (readonly [string, string[]])[] = [
    ['fs', functionNames('fs').filter((name) => functionNames('fs').includes(`${name}Sync`))],
    ['dns', functionNames('dns/promises').filter((name) => /^(resolve|reverse|lookup)/.test(name))],
    ['zlib', functionNames('zlib').filter((name) => functionNames('zlib').includes(`${name}Sync`))],
    ['crypto', functionNames('crypto').filter((name) => functionNames('crypto').includes(`${name}Sync`))],
  ];
  for (const [name, functions] of twins) {
    t.true(functions.length > 5, name);
    for (const one of functions) {
      const ruptures = core(name).module.members?.[one]?.call?.ruptures ?? [];
      t.true(
        ruptures.some((rupture) => rupture.kind === 'post' && rupture.callback === 'last'),
        `${name}.${one}`,
      );
    }
  }
});

test('every function of the promise modules gives a promise', (t) => {
  const OTHERWISE = new Set(['watch', 'glob', 'setInterval', 'Resolver']);
  for (const name of ['fs/promises', 'dns/promises', 'timers/promises', 'stream/promises', 'stream/consumers']) {
    for (const one of functionNames(name)) {
      if (OTHERWISE.has(one) || /Servers|DefaultResultOrder/.test(one)) continue;
      t.true(core(name).module.members?.[one]?.call?.promise, `${name}.${one}`);
    }
  }
});

test('what a core call gives has the members that its type says', (t) => {
  const samples: { readonly [type: string]: () => unknown } = {
    'crypto.Hash': () => require('node:crypto').createHash('sha1'),
    'crypto.Hmac': () => require('node:crypto').createHmac('sha1', 'k'),
    'http.Server': () => require('node:http').createServer(),
    'http.Agent': () => require('node:http').globalAgent,
    'http.ServerResponse': () => {
      const { IncomingMessage, ServerResponse } = require('node:http');
      return new ServerResponse(new IncomingMessage(null));
    },
    'net.Socket': () => new (require('node:net').Socket)(),
    'dgram.Socket': () => require('node:dgram').createSocket('udp4').unref(),
    'fs.Stats': () => require('node:fs').statSync('.'),
    'stream.Duplex': () => new (require('node:stream').PassThrough)(),
    'zlib.Zlib': () => require('node:zlib').createGzip(),
    'events.EventEmitter': () => new (require('node:events'))(),
    'process.Process': () => process,
    'console.Console': () => console,
    'timers.Timeout': () => setTimeout(() => {}, 0),
  };
  const NOT_EVERYWHERE =
    /\.(setDefaultEncoding|writeInformation|writableAborted|threadCpuUsage|send|disconnect|maxConnections)$/;
  for (const [type, make] of Object.entries(samples)) {
    const value = make();
    const gone = missing({ is: type }, value, type, (path) => !NOT_EVERYWHERE.test(path));
    t.deepEqual(gone, [], type);
  }
});

// -------------------------------------------------------------------------------------------------- the language itself

test('globals exist, with the members that are named', (t) => {
  const LATER =
    /^globals\.(Promise\.(try|withResolvers)|Array\.fromAsync|Map\.groupBy|Object\.groupBy|RegExp\.escape|\w*(Error|Exception)\.(isError|captureStackTrace|stackTraceLimit)|Symbol\.(dispose|asyncDispose)|URL\.parse|File|crypto|performance|Intl)/;
  t.deepEqual(
    missing({ members: globals }, globalThis, 'globals', (path) => !LATER.test(path)),
    [],
  );
});

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

test('each type of built-in value has the methods that are named, and its mutating methods change it', (t) => {
  const samples: { readonly [type: string]: () => object } = {
    Array: () => [3, 1, 2],
    Map: () => new Map([[1, 2]]),
    Set: () => new Set([1, 2]),
    Date: () => new Date(0),
    URLSearchParams: () => new URLSearchParams('b=1&a=2'),
    TypedArray: () => new Uint8Array([3, 1, 2]),
    Buffer: () => Buffer.from('abcdefgh'),
  };
  const LATER = /\.(isDisjointFrom|isSubsetOf|isSupersetOf|intersection|difference|union|symmetricDifference)$/;
  for (const [type, make] of Object.entries(samples)) {
    t.deepEqual(
      missing({ is: type }, make(), type, (path) => !LATER.test(path)),
      [],
      type,
    );
  }
  const snapshot = (value: object): string => JSON.stringify([value, isIterable(value) ? [...value] : []]);
  // Called without arguments or with small ones, a method that is said to change nothing must change nothing.
  for (const [type, make] of Object.entries(samples)) {
    for (const [name, member] of Object.entries(membersOf({ is: type }))) {
      if (!member.call || member.call.mutates?.includes('this')) continue;
      const value = make();
      const before = snapshot(value);
      const method: unknown = Reflect.get(value, keyOf(name));
      if (typeof method !== 'function') continue;
      for (const args of [[], [1, 1], [() => 0]]) {
        try {
          Reflect.apply(method, value, args);
        } catch {
          // Wrong arguments for this one.
        }
      }
      t.is(snapshot(value), before, `${type}.${name}`);
    }
  }
});

test('every method that arrays, maps, sets and dates have is described', (t) => {
  for (const [type, prototype] of Object.entries({
    Array: Array.prototype,
    Map: Map.prototype,
    Set: Set.prototype,
    Date: Date.prototype,
    String: String.prototype,
    Number: Number.prototype,
    Promise: Promise.prototype,
    WeakMap: WeakMap.prototype,
    WeakSet: WeakSet.prototype,
  })) {
    // HTML methods of strings that nobody has used since the nineties.
    const OLD = /^(big|blink|bold|fixed|fontcolor|fontsize|italics|small|strike|sub|sup|constructor)$/;
    const NEWER = NODE > 24;
    const described = typeOf(type)?.members ?? {};
    const names = Object.getOwnPropertyNames(prototype).filter((name) => !OLD.test(name));
    if (!NEWER)
      t.deepEqual(
        names.filter((name) => !(name in described)),
        [],
        type,
      );
  }
});

test('a method that is known by its name only is read at its worst', (t) => {
  t.deepEqual(byMethodName.get('slice'), { returns: 'copy' });
  t.deepEqual(byMethodName.get('get'), { returns: 'contents' });
  t.deepEqual(byMethodName.get('push'), { returns: 'fresh', mutates: ['this'], keeps: [-1] });
  t.deepEqual(byMethodName.get('set'), { returns: 'this', mutates: ['this'], keeps: [-1] });
  t.deepEqual(
    byMethodName.get('then')?.ruptures?.map(({ kind, callback }) => [kind, callback]),
    [
      ['post', 0],
      ['post', 1],
    ],
  );
  for (const name of [
    'fill',
    'sort',
    'reverse',
    'delete',
    'clear',
    'test',
    'exec',
    'next',
    'splice',
    'add',
    'append',
  ]) {
    t.deepEqual(byMethodName.get(name)?.mutates, ['this'], name);
  }
  for (const name of [
    'write',
    'send',
    'call',
    'apply',
    'bind',
    'json',
    'emit',
    'on',
    'end',
    'save',
    'render',
    'copy',
  ]) {
    t.is(byMethodName.get(name), undefined, name);
  }
});

test('merging takes the effects of both calls', (t) => {
  t.deepEqual(
    mergeCalls({ returns: 'fresh', keeps: [0] }, { returns: 'contents', mutates: ['this'], stateful: true }),
    {
      returns: 'contents',
      mutates: ['this'],
      keeps: [0],
      stateful: true,
    },
  );
  t.deepEqual(mergeCalls({ returns: 'fresh', connects: true }, { returns: 'fresh' }), { returns: 'fresh' });
  t.is(mergeRefs('Array', 'fresh'), 'fresh');
  t.is(mergeRefs('copy', 'this'), 'copy | this');
  t.is(mergeRefs('copy', undefined), 'unknown');
});

// --------------------------------------------------------------------------------------------------------- the packages

/** What one version of Express has and another has not. */
const EXPRESS_3_ONLY =
  /\.(createServer|basicAuth|bodyParser|cookieParser|cookieSession|csrf|directory|errorHandler|favicon|limit|methodOverride|multipart|responseTime|timeout|vhost|compress|logger|session|staticCache|mime)$/;
const NOT_IN_3 = /\.(raw|text)$/;

for (const version of ['express', 'express3', 'express4']) {
  test(`${version} has what the model says`, (t) => {
    const real: unknown = require(version);
    const expected = (path: string): boolean => {
      if (version === 'express3') return !NOT_IN_3.test(path);
      return !EXPRESS_3_ONLY.test(path) && !(version === 'express' && path.endsWith('.query'));
    };
    t.deepEqual(missing(packaged('express').module, real, 'express', expected), []);
  });

  test(`the prototypes of ${version} have no public method that the model lacks`, (t) => {
    const real: unknown = require(version);
    // Internal, or only there to be overridden.
    const LEFT_OUT = new Set([
      'handle',
      'defaultConfiguration',
      'lazyrouter',
      'init',
      'configure',
      'callbacks',
      'charset',
      'createServer',
      'cache',
      'engines',
      'stack',
      'match',
      'matchRequest',
      'routes',
    ]);
    for (const [property, type] of Object.entries({
      application: 'Application',
      request: 'Request',
      response: 'Response',
    })) {
      const prototype = isObject(real) ? real[property] : undefined;
      const known = membersOf({ is: `express.${type}` });
      const names = Object.getOwnPropertyNames(prototype).filter((name) => {
        const getter = Object.getOwnPropertyDescriptor(prototype, name);
        return typeof getter?.value === 'function' && !name.startsWith('_') && !LEFT_OUT.has(name);
      });
      t.true(names.length > 5);
      t.deepEqual(
        names.filter((name) => !(name in known)),
        [],
        type,
      );
    }
  });
}

test('routes are starts of requests, from the path on, and error handlers get the error first', (t) => {
  const { members } = packaged('express').types!.Application!;
  const [get] = members.get!.call!.ruptures!;
  t.deepEqual(get, {
    kind: 'start',
    callback: 'functions',
    from: 1,
    label: 0,
    request: true,
    params: ['express.Request', 'express.Response', 'express.Next'],
    errorParams: ['fresh', 'express.Request', 'express.Response', 'express.Next'],
  });
  t.is(members.use!.call!.ruptures![0]!.from, 0);
  t.is(packaged('express').types!.Route!.members.post!.call!.ruptures![0]!.from, 0);
});

const INSTALLED = `bytes connect cookie-signature debug encodeurl escape-html etag fresh gifsockets http-errors iconv-lite
  inherits mime-types ms on-finished parseurl qs raw-body router semver send statuses utils-merge vary`;

for (const name of INSTALLED.split(/\s+/)) {
  test(`${name} has what its model says`, (t) => {
    const { module } = packaged(name);
    const real: unknown = require(name);
    if (module.call || module.construct) t.is(typeof real, 'function');
    // A default import of a CommonJS package is the package.
    t.deepEqual(
      missing(module, real, name, (path) => !path.includes('.default') && path !== 'debug.debug'),
      [],
    );
    t.deepEqual(impure(packaged(name), real), []);
  });
}

test('raw-body calls back or gives a promise, and uses up its stream', (t) => {
  const call = packaged('raw-body').module.call;
  t.deepEqual(
    call?.ruptures?.map(({ kind, callback }) => [kind, callback]),
    [['post', 'last']],
  );
  t.true(call?.promiseWithoutCallback);
  t.deepEqual(call?.mutates, [0]);
});

test('what belongs to one loop says so', (t) => {
  t.true(packaged('express-session').module.call?.stateful);
  t.true(packaged('express-rate-limit').module.call?.stateful);
  t.true(packaged('lodash').module.members?.uniqueId?.call?.stateful);
  t.true(packaged('lodash').module.members?.once?.call?.stateful);
  t.true(packaged('socket.io').types?.Server?.members.emit?.call?.stateful);
  t.true(core('async_hooks').types?.AsyncLocalStorage?.members.enterWith?.call?.stateful);
  t.true(core('async_hooks').types?.AsyncLocalStorage?.members.getStore?.call?.asksContext);
  t.falsy(packaged('cors').module.call?.stateful);
  t.true(packaged('cors').module.call?.connects);
});

test('functions that wrap a function say which one', (t) => {
  t.is(core('util').module.members?.promisify?.call?.returns, 'promisified argument 0');
  t.is(core('util').module.members?.deprecate?.call?.returns, 'bound argument 0');
  t.is(packaged('express-async-handler').module.call?.returns, 'bound argument 0');
  for (const name of ['once', 'debounce', 'throttle', 'memoize']) {
    t.is(packaged('lodash').module.members?.[name]?.call?.returns, 'bound argument 0');
  }
});
