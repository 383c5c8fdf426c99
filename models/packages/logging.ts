import type { Members } from '../build.js';
import {
  calls,
  chained,
  configures,
  constants,
  each,
  listed,
  mutating,
  post,
  pure,
  start,
  sync,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['output'] as const;
const logs = (names: string, call: Call = {}): Members => calls(names, { does, ...call });

/** An object that is all that is logged (an error) goes through the formats itself, and is told its level. */
const WINSTON: Members = logs('log error warn info http verbose debug silly', { returns: 'this', mutates: [0] });
const FORMAT: Call = { returns: 'winston.Format', keeps: [-1], connects: true };
/** They are called with what is logged, and with what the program makes a format of: `upper({ only: names })`. */
const formatted = [sync(0, ['fresh', 'unknown'], { exactly: 'copies' })];

/** A file transport counts what it has written and rotates by that, so only the one who opened it may use it. */
export const winston = {
  name: 'winston',
  module: {
    members: {
      ...WINSTON,
      ...configures('add remove clear configure addColors handleExceptions'),
      createLogger: { call: { returns: 'winston.Logger', keeps: [-1], connects: true } },
      Logger: { construct: { returns: 'winston.Logger', keeps: [-1], connects: true } },
      format: {
        call: { ...FORMAT, returns: 'winston.FormatMaker', ruptures: formatted },
        members: each('printf', { call: { ...FORMAT, ruptures: formatted } }),
        others: FORMAT,
      },
      transports: {
        members: {
          Console: { construct: { returns: 'winston.Transport', keeps: [-1], connects: true } },
          Stream: { construct: { returns: 'winston.Transport', keeps: [-1], connects: true } },
          File: { construct: { returns: 'winston.Transport', keeps: [-1], does: ['files'], stateful: true } },
          Http: { construct: { returns: 'winston.Transport', keeps: [-1], does: ['network'], stateful: true } },
        },
      },
      ...values('config exceptions loggers'),
    },
  },
  types: {
    Logger: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        ...WINSTON,
        ...chained('add remove clear configure'),
        ...calls('child', { returns: 'winston.Logger', keeps: [-1] }),
        ...pure('isLevelEnabled'),
        ...values('level transports'),
        ...mutating('close end'),
      },
    },
    Format: { members: {} },
    FormatMaker: { members: {}, call: FORMAT, construct: FORMAT },
    Transport: { extends: 'events.EventEmitter', members: { ...values('level silent'), ...mutating('close') } },
  },
} satisfies PackageModel;

const LEVELS = 'trace debug info warn error fatal';

/** What writes in a thread of its own there is one of, and so of what opens a file some time later. */
const PINO: Call = {
  returns: 'pino.Logger',
  keeps: [-1],
  connects: true,
  // Children of one that tells of them do not travel.
  statefulWith: { installed: [], options: ['transport', 'onChild', '?'] },
};

export const pino = {
  name: 'pino',
  module: withDefault({
    call: PINO,
    members: {
      pino: { call: PINO },
      destination: {
        call: {
          returns: 'pino.Destination',
          keeps: [-1],
          connects: true,
          does: ['files'],
          statefulWith: { installed: [], options: ['*', '?'] },
        },
      },
      multistream: { call: { returns: 'pino.Destination', keeps: [-1], connects: true } },
      transport: { call: { returns: 'pino.Destination', keeps: [-1], stateful: true } },
      ...values('stdSerializers levels stdTimeFunctions symbols'),
    },
  }),
  types: {
    Destination: {
      extends: 'events.EventEmitter',
      identity: true,
      members: mutating('write reopen flush flushSync end destroy add'),
    },
    Logger: {
      identity: true,
      members: {
        ...logs(`${LEVELS} silent flush`),
        child: { call: { returns: 'pino.Logger', keeps: [-1], statefulBeyond: 1 } },
        ...pure('bindings isLevelEnabled'),
        ...mutating('setBindings'),
        ...values('level'),
      },
    },
  },
} satisfies PackageModel;

/** Run by its middleware, at the beginning or the end of a request. What else it is given the logger runs. */
const HTTP_OPTIONS = `genReqId customLogLevel customProps autoLogging.ignore customReceivedObject customReceivedMessage customSuccessObject
  customSuccessMessage customErrorObject customErrorMessage`;

const PINO_HTTP: Call = {
  ...PINO,
  ruptures: listed(HTTP_OPTIONS).map((within) =>
    start(0, ['express.Request', 'express.Response', 'fresh', 'fresh'], { within, request: true }),
  ),
  returns: 'pino-http.Middleware',
  puts: ['express.Request', 'express.Response'].map((on) => ({ on, name: 'log', is: 'pino.Logger' })),
};

const PINO_HTTP_MODULE = withDefault({
  call: PINO_HTTP,
  members: { pinoHttp: { call: PINO_HTTP }, ...values('stdSerializers startTime') },
});

/** Its middleware counts requests, unless it is told how to call them. */
export const pinoHttp = {
  name: 'pino-http',
  module: PINO_HTTP_MODULE,
  types: {
    Middleware: {
      extends: 'express.Middleware',
      identity: true,
      members: { logger: { is: 'pino.Logger' } },
      call: { ruptures: [post(2, ['fresh'])], returns: 'fresh', mutates: [0, 1], stateful: true },
    },
  },
} satisfies PackageModel;

/** An older name. */
export const expressPinoLogger = { name: 'express-pino-logger', module: PINO_HTTP_MODULE } satisfies PackageModel;

export const bunyan = {
  name: 'bunyan',
  module: {
    members: {
      createLogger: {
        call: {
          returns: 'bunyan.Logger',
          keeps: [-1],
          connects: true,
          statefulWith: { installed: [], options: ['streams', '?'] },
        },
      },
      RingBuffer: { construct: { returns: 'bunyan.RingBuffer', stateful: true } },
      ...pure('resolveLevel safeCycles'),
      ...values('stdSerializers levelFromName nameFromLevel'),
      ...constants(LEVELS.toUpperCase()),
    },
  },
  types: {
    Logger: {
      extends: 'events.EventEmitter',
      identity: true,
      members: {
        ...logs(LEVELS),
        child: { call: { returns: 'bunyan.Logger', keeps: [-1] } },
        ...mutating('addStream addSerializers level levels', { keeps: [-1] }),
      },
    },
    RingBuffer: {
      extends: 'events.EventEmitter',
      identity: true,
      members: { ...mutating('write end destroy'), ...values('records') },
    },
  },
} satisfies PackageModel;

export const debug = {
  name: 'debug',
  module: withDefault({
    call: { returns: 'debug.Debugger' },
    members: {
      ...configures('enable disable'),
      ...pure('enabled coerce humanize'),
      ...values('formatters log'),
      debug: { call: { returns: 'debug.Debugger' } },
    },
  }),
  types: {
    Debugger: {
      members: {
        ...values('enabled log namespace color useColors'),
        extend: { call: { returns: 'debug.Debugger' } },
      },
      call: { returns: 'fresh', does },
    },
  },
} satisfies PackageModel;

/** Metrics are sums over all requests. */
export const promClient = {
  name: 'prom-client',
  module: {
    members: {
      ...each('Counter Gauge Histogram Summary', {
        construct: { returns: 'prom-client.Metric', keeps: [-1], stateful: true },
      }),
      ...calls('collectDefaultMetrics', { stateful: true, does: ['timer'] }),
      ...pure('linearBuckets exponentialBuckets validateMetricName'),
    },
  },
  types: {
    Metric: {
      identity: true,
      members: {
        ...mutating('inc dec set observe reset remove setToCurrentTime'),
        ...calls('labels', { returns: 'this' }),
        startTimer: { call: { returns: 'unknown', mutates: ['this'] } },
      },
    },
  },
} satisfies PackageModel;

export const dotenv = {
  name: 'dotenv',
  module: {
    members: {
      ...calls('config configDotenv load', { does: ['files', 'process'], stateful: true }),
      ...pure('parse'),
      ...calls('populate', { mutates: [0] }),
    },
  },
} satisfies PackageModel;

/** Read from files at start-up; whoever asks for the first time makes all of it read-only. */
export const config = {
  name: 'config',
  module: { is: 'config.Config' },
  types: {
    Config: {
      holdsData: true,
      members: { ...pure('get', 'contents'), ...pure('has'), ...values('util') },
    },
  },
} satisfies PackageModel;
