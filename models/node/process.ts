import type { Members } from '../build.js';
import { calls, constants, each, emitter, events, post, pure, values } from '../build.js';
import type { Member, PackageModel } from '../types.js';

const does = ['process'] as const;

const SIGNALS = 'SIGABRT SIGALRM SIGBREAK SIGHUP SIGINT SIGPIPE SIGQUIT SIGTERM SIGUSR1 SIGUSR2 SIGWINCH';

/** Signals and the end of the process come to its main thread only. */
const listening = (kind: 'start' | 'post'): Member => ({
  call: {
    ruptures: [{ kind, callback: 1, label: 0, thisIsReceiver: true }],
    returns: 'this',
    mutates: ['this'],
    keeps: [1],
    does,
  },
});

const MEMBERS: Members = {
  nextTick: {
    call: { ruptures: [post(0, ['argument 1', 'argument 2', 'argument 3', 'argument 4'])], returns: 'fresh' },
  },
  hrtime: { call: { does: ['clock'], returns: 'fresh' }, members: calls('bigint', { does: ['clock'] }) },
  ...calls('cpuUsage resourceUsage uptime constrainedMemory availableMemory threadCpuUsage', { does: ['clock'] }),
  memoryUsage: { call: { does: ['clock'], returns: 'fresh' }, members: calls('rss', { does: ['clock'] }) },
  ...pure('cwd getuid geteuid getgid getegid getgroups'),
  ...calls('exit reallyExit abort kill chdir umask setuid seteuid setgid setegid setgroups initgroups dlopen', {
    does,
  }),
  ...calls('loadEnvFile setSourceMapsEnabled disconnect', { does, stateful: true }),
  ...calls('emitWarning', { does: ['output', 'process'] }),
  send: { call: { ruptures: [post('last', ['fresh'])], returns: 'fresh', does } },
  ...calls('setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback', { does, stateful: true }),
  ...calls('getActiveResourcesInfo', { does: ['clock'] }),
  ...constants(`arch argv0 execArgv execPath pid ppid platform release version versions features config
    allowedNodeEnvironmentFlags`),
  ...values('argv env exitCode title report debugPort'),
  ...each('stdout stderr', { is: 'tty.WriteStream' }),
  stdin: { is: 'tty.ReadStream' },
};

export const process = {
  name: 'process',
  module: {
    is: 'process.Process',
  },
  types: {
    Process: {
      ...emitter(
        {
          ...MEMBERS,
          on: listening('start'),
          addListener: listening('start'),
          prependListener: listening('start'),
          once: listening('post'),
          prependOnceListener: listening('post'),
        },
        {
          ...events('exit beforeExit', { params: ['fresh'] }),
          ...events('uncaughtException uncaughtExceptionMonitor', { params: ['unknown', 'fresh'] }),
          ...events('unhandledRejection rejectionHandled', { params: ['unknown', 'Promise'] }),
          ...events(SIGNALS, { params: ['fresh', 'fresh'] }),
          message: { params: ['fresh', 'unknown'] },
          warning: { params: ['fresh'] },
        },
      ),
      identity: true,
    },
  },
} satisfies PackageModel;
