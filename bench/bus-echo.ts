/** The other side of bench/bus.ts: sends back what comes, over a bare port and over the bus. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { Channel } from '../runtime/bus.js';

parentPort?.once('message', ({ bare, framed }: { readonly bare: MessagePort; readonly framed: MessagePort }) => {
  bare.on('message', (message) => bare.postMessage(message));
  const channel = new Channel<unknown, unknown>(framed, {
    window: Number.POSITIVE_INFINITY,
    ackEvery: 1,
    receive: (message) => channel.send(message),
    closed: () => {},
  });
  framed.ref();
  parentPort?.postMessage('ready');
});
