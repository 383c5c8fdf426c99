import test from 'ava';
import type { ToHome, ToReplica } from '../runtime/messages.js';
import { packMessage, unpackMessage } from '../runtime/wire.js';

const response = { statusCode: 200, statusMessage: undefined, headers: ['X-A', 'b'], flags: 3 };

const MESSAGES: readonly (ToHome | ToReplica)[] = [
  {
    kind: 'dispatch',
    run: 1,
    slot: 'server0 0/1',
    at: 1.5,
    below: ['    at next (router.js:1:2)'],
    envelope: {
      ...{
        id: 1,
        httpVersion: '1.1',
        rawHeaders: ['A', 'b'],
        headers: null,
        rawTrailers: [],
        body: 'none',
        gone: null,
      },
      connection: {
        ...{
          remoteAddress: '::1',
          remotePort: 1,
          remoteFamily: 'IPv6',
          localAddress: '::1',
          localPort: 2,
          localFamily: 'IPv6',
        },
        ...{ isAsked: true, tls: null, httpValidation: undefined, insecureHTTPParser: undefined, traps: [] },
      },
      ...{ isComplete: true, app: ':app', progress: 'open', corks: 1, fixes: null, response },
      args: null,
      stores: null,
      req: { names: ['url'], values: [{ deep: ['kept'] }], traps: [] },
      res: { names: [], values: [], traps: ['a', 'why'] },
    },
  },
  { kind: 'body', id: 1, chunks: [new Uint8Array([1])], trailers: null },
  { kind: 'finish', id: 1, response, isComplete: false },
  { kind: 'ping' },
  {
    kind: 'steps',
    id: 1,
    steps: [
      { do: 'head', head: { statusCode: 201, statusMessage: 'Made', removed: ['a'], set: ['b', 'c'], flags: 1 } },
      { do: 'write', chunk: 'text', encoding: undefined, callback: 0, full: false, flow: 'apart' },
      { do: 'flushHeaders' },
      { do: 'next', arg: [{ a: 1 }], frames: ['    at f'], isInCall: true, fixes: null },
      { do: 'end', chunk: undefined, encoding: undefined, tell: true, joins: false },
    ],
  },
  { kind: 'pull', id: 1, taken: 5 },
  { kind: 'ran', run: 1, cpuMs: 0.5, waitMs: 0, isLate: false },
  { kind: 'done', id: 1 },
];

for (const message of MESSAGES) {
  test(`"${message.kind}" comes back as it was sent`, (t) => {
    const carried: unknown = structuredClone(packMessage(message));
    t.deepEqual(unpackMessage<ToHome | ToReplica>(carried), message);
  });
}
