/** Things that happen by the clock or by a queue: they go on where they were started, once. */
import { calls, each, emitter, events, mutating, promising, pure, start, withDefault } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['timer'] as const;
const stateful = true;

export const nodeCron = {
  name: 'node-cron',
  module: withDefault({
    members: {
      schedule: {
        call: { ruptures: [start(1, ['fresh'], { label: 0 })], returns: 'node-cron.Task', does, stateful },
      },
      ...pure('validate'),
    },
  }),
  types: { Task: { identity: true, members: mutating('start stop destroy execute', { does, stateful }) } },
} satisfies PackageModel;

export const cron = {
  name: 'cron',
  module: {
    members: {
      CronJob: {
        construct: { ruptures: [start(1, ['fresh'], { label: 0 })], returns: 'cron.Job', does, stateful },
        members: { from: { call: { returns: 'cron.Job', keeps: [0], does, stateful } } },
      },
      CronTime: { construct: { returns: 'fresh' } },
    },
  },
  types: {
    Job: {
      identity: true,
      members: {
        ...mutating('start stop setTime addCallback fireOnTick', { does, stateful }),
        ...calls('nextDate nextDates lastDate', { does: ['clock'] }),
      },
    },
  },
} satisfies PackageModel;

export const nodeSchedule = {
  name: 'node-schedule',
  module: {
    members: {
      scheduleJob: {
        call: { ruptures: [start('last', ['fresh'], { label: 0 })], returns: 'node-schedule.Job', does, stateful },
      },
      ...calls('cancelJob rescheduleJob gracefulShutdown', { stateful, does }),
    },
  },
  types: { Job: emitter(mutating('cancel cancelNext reschedule invoke schedule', { does, stateful })) },
} satisfies PackageModel;

/** A queue's jobs lie in Redis, so adding one is a request like any other; working them off is not. */
export const bull = {
  name: 'bull',
  module: {
    construct: { returns: 'bull.Queue', keeps: [-1], connects: true },
    call: { returns: 'bull.Queue', keeps: [-1], connects: true },
  },
  types: {
    Queue: emitter(
      {
        ...promising('add addBulk', { does: ['network'] }),
        ...promising('getJob getJobs getJobCounts getWaiting getActive getCompleted getFailed getDelayed count', {
          does: ['network'],
          returns: 'unknown',
        }),
        ...promising('pause resume empty close clean obliterate removeJobs isReady', {
          does: ['network'],
          mutates: ['this'],
        }),
        process: {
          call: {
            ruptures: [start('last', ['unknown', 'unknown'], { label: 0 })],
            promise: true,
            returns: 'fresh',
            mutates: ['this'],
            stateful,
          },
        },
      },
      events('completed failed progress stalled active waiting', { params: ['unknown', 'unknown', 'unknown'] }),
    ),
  },
} satisfies PackageModel;

const connect: Call = { keeps: [-1], connects: true };

export const bullmq = {
  name: 'bullmq',
  module: {
    members: {
      Queue: { construct: { ...connect, returns: 'bullmq.Queue' } },
      Worker: {
        construct: {
          ruptures: [start(1, ['unknown', 'unknown'], { label: 0 })],
          returns: 'events.EventEmitter',
          stateful,
          does: ['network'],
        },
      },
      QueueEvents: { construct: { returns: 'events.EventEmitter', stateful, does: ['network'] } },
    },
  },
  types: {
    Queue: emitter({
      ...promising('add addBulk', { does: ['network'] }),
      ...promising('getJob getJobs getJobCounts count', { does: ['network'], returns: 'unknown' }),
      ...promising('pause resume drain clean obliterate close remove', { does: ['network'], mutates: ['this'] }),
    }),
  },
} satisfies PackageModel;

const AGENDA = emitter({
  define: {
    call: {
      ruptures: [start('last', ['unknown', 'unknown'], { label: 0 })],
      returns: 'fresh',
      mutates: ['this'],
      stateful,
    },
  },
  ...promising('start stop drain every schedule now cancel purge jobs', {
    does: ['network', 'timer'],
    mutates: ['this'],
    returns: 'unknown',
    stateful,
  }),
});

export const agenda = {
  name: 'agenda',
  module: withDefault({
    construct: { returns: 'agenda.Agenda', keeps: [-1], stateful },
    members: each('Agenda', { construct: { returns: 'agenda.Agenda', keeps: [-1], stateful } }),
  }),
  types: { Agenda: AGENDA },
} satisfies PackageModel;
