import { callbackLast, calls, emitter, events, mutating, promising, pure, values } from '../build.js';
import type { PackageModel } from '../types.js';

const does = ['output'] as const;
const prompting = mutating('close pause prompt resume setPrompt write', { does });
const heard = {
  line: { params: ['fresh'] },
  history: { params: ['fresh'] },
  close: { params: [], once: true },
  ...events('pause resume SIGCONT SIGINT SIGTSTP', { params: [] }),
};

export const readline = {
  name: 'readline',
  module: {
    members: {
      createInterface: { call: { returns: 'readline.Interface', mutates: [0], keeps: [-1] } },
      Interface: { construct: { returns: 'readline.Interface', mutates: [0], keeps: [-1] } },
      ...callbackLast('clearLine clearScreenDown cursorTo moveCursor', { does, mutates: [0] }, []),
      ...calls('emitKeypressEvents', { mutates: [0] }),
      promises: {
        members: { createInterface: { call: { returns: 'readline/promises.Interface', mutates: [0], keeps: [-1] } } },
      },
    },
  },
  types: {
    Interface: emitter(
      {
        ...prompting,
        ...callbackLast('question', { does, mutates: ['this'] }, ['fresh']),
        ...pure('getPrompt getCursorPos'),
        ...values('line cursor terminal'),
      },
      heard,
    ),
  },
} satisfies PackageModel;

export const readlinePromises = {
  name: 'readline/promises',
  module: {
    members: {
      createInterface: { call: { returns: 'readline/promises.Interface', mutates: [0], keeps: [-1] } },
      Interface: { construct: { returns: 'readline/promises.Interface', mutates: [0], keeps: [-1] } },
    },
  },
  types: {
    Interface: emitter(
      {
        ...prompting,
        ...promising('question', { does, mutates: ['this'] }),
        ...pure('getPrompt getCursorPos'),
        ...values('line cursor terminal'),
      },
      heard,
    ),
  },
} satisfies PackageModel;
