import type { Members } from '../build.js';
import { calls, chained, configures, constants, each, mutating, pure, values, withDefault } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['output'] as const;
const logs = (names: string, call: Call = {}): Members => calls(names, { does, ...call });

const WINSTON: Members = logs('log error warn info http verbose debug silly', { returns: 'this' });

/** A file transport counts what it has written and rotates by that, so only the one who opened it may use it. */
export const winston = {
  name: 'winston',
  module: {
    members: {
      ...WINSTON,
      ...configures('add remove clear configure addColors handleExceptions'),
      createLogger: { call: { returns: 'winston.Logger', keeps: [-1], connects: true } },
      Logger: { construct: { returns: 'winston.Logger', keeps: [-1], connects: true } },
      format: { members: {}, others: { returns: 'winston.Format', keeps: [-1], connects: true } },
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
    Transport: { extends: 'events.EventEmitter', members: { ...values('level silent'), ...mutating('close') } },
  },
} satisfies PackageModel;

const LEVELS = 'trace debug info warn error fatal';

/** What writes in a thread of its own there is one of, and so of what opens a file some time later. */
const PINO: Call = {
  returns: 'pino.Logger',
  keeps: [-1],
  connects: true,
  statefulWith: { installed: [], options: ['transport', '?'] },
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
        child: { call: { returns: 'pino.Logger', keeps: [-1] } },
        ...pure('bindings isLevelEnabled'),
        ...mutating('setBindings'),
        ...values('level'),
      },
    },
  },
} satisfies PackageModel;

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
