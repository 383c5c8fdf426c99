/**
 * Reads: messages between loops, as messages.ts has them.
 * Gives: those that every request has as lists, without the names of their fields, and the messages back. Structured clone
 *        writes and reads each name of each object each time: that is most of what such a message would cost.
 */
import type { Connection, Envelope, HeadChange, Properties, ResponseState, Step } from './http-bridge/messages.js';
import type { ToHome, ToReplica } from './messages.js';

/** Names of fields in the order in which they are sent, and for those that are sent as lists as well, how. */
type Shape = readonly (readonly [name: string, inner: Shape | 'steps' | null])[];

/** The compiler sees to it that no field is missing. */
type Spec<T> = { readonly [Name in keyof Required<T>]: Shape | 'steps' | 0 };

function shapeOf<T extends object>(spec: Spec<T>): Shape {
  return Object.entries<Shape | 'steps' | 0>(spec).map(([name, inner]) => [name, inner === 0 ? null : inner]);
}

type Message<M, K> = Extract<M, { readonly kind: K }>;
type StepOf<D> = Extract<Step, { readonly do: D }>;

const CONNECTION = shapeOf<Connection>({
  ...{ remoteAddress: 0, remotePort: 0, remoteFamily: 0, localAddress: 0, localPort: 0, localFamily: 0 },
  ...{ isAsked: 0, tls: 0, httpValidation: 0, insecureHTTPParser: 0, traps: 0 },
});
const PROPERTIES = shapeOf<Properties>({ names: 0, values: 0, traps: 0 });
const RESPONSE = shapeOf<ResponseState>({ statusCode: 0, statusMessage: 0, headers: 0, flags: 0 });
const ENVELOPE = shapeOf<Envelope>({
  ...{ id: 0, httpVersion: 0, rawHeaders: 0, headers: 0, rawTrailers: 0, connection: CONNECTION, body: 0, gone: 0 },
  ...{
    isComplete: 0,
    app: 0,
    req: PROPERTIES,
    res: PROPERTIES,
    args: PROPERTIES,
    stores: PROPERTIES,
    response: RESPONSE,
    progress: 0,
    corks: 0,
    fixes: 0,
  },
});
const HEAD = shapeOf<HeadChange>({ statusCode: 0, statusMessage: 0, removed: 0, set: 0, flags: 0 });

/** Each begins with what tells them apart. */
const MESSAGES: { readonly [kind: string]: Shape } = {
  dispatch: shapeOf<Message<ToReplica, 'dispatch'>>({ kind: 0, run: 0, slot: 0, envelope: ENVELOPE, at: 0, below: 0 }),
  body: shapeOf<Message<ToReplica, 'body'>>({ kind: 0, id: 0, chunks: 0, trailers: 0 }),
  finish: shapeOf<Message<ToReplica, 'finish'>>({ kind: 0, id: 0, response: RESPONSE, isComplete: 0 }),
  steps: shapeOf<Message<ToHome, 'steps'>>({ kind: 0, id: 0, steps: 'steps' }),
  pull: shapeOf<Message<ToHome, 'pull'>>({ kind: 0, id: 0, taken: 0 }),
  far: shapeOf<Message<ToHome, 'far'>>({ kind: 0, home: 0, connection: 0, what: 0, bytes: 0, peer: 0 }),
  'far-answer': shapeOf<Message<ToReplica, 'far-answer'>>({ kind: 0, home: 0, connection: 0, what: 0, bytes: 0 }),
  ran: shapeOf<Message<ToHome, 'ran'>>({ kind: 0, run: 0, cpuMs: 0, waitMs: 0, isLate: 0 }),
};

const STEPS: { readonly [does: string]: Shape } = {
  head: shapeOf<StepOf<'head'>>({ do: 0, head: HEAD }),
  write: shapeOf<StepOf<'write'>>({ do: 0, chunk: 0, encoding: 0, callback: 0, full: 0, flow: 0 }),
  end: shapeOf<StepOf<'end'>>({ do: 0, chunk: 0, encoding: 0, tell: 0, joins: 0 }),
  next: shapeOf<StepOf<'next'>>({ do: 0, arg: 0, frames: 0, isInCall: 0, fixes: 0 }),
};

export function packMessage(message: { readonly kind: string }): unknown {
  const shape = MESSAGES[message.kind];
  return shape === undefined ? message : pack(message, shape);
}

/** What comes by a port that only Fluxion has is what was put in at its other end. */
export function unpackMessage<M>(packed: unknown): M {
  return (Array.isArray(packed) ? unpack(packed, MESSAGES[String(packed[0])] ?? []) : packed) as M;
}

function pack(value: object, shape: Shape): unknown[] {
  const list: unknown[] = new Array(shape.length);
  for (let at = 0; at < shape.length; at++) {
    const [name, inner] = shape[at] ?? ['', null];
    const field: unknown = Reflect.get(value, name);
    list[at] = inner === null ? field : inner === 'steps' ? packSteps(field) : packField(field, inner);
  }
  return list;
}

function packField(field: unknown, shape: Shape): unknown {
  return typeof field === 'object' && field !== null ? pack(field, shape) : field;
}

function packSteps(steps: unknown): unknown {
  if (!Array.isArray(steps)) return steps;
  return steps.map((step: Step) => {
    const shape = STEPS[step.do];
    return shape === undefined ? step : pack(step, shape);
  });
}

function unpack(list: readonly unknown[], shape: Shape): object {
  const value: { [name: string]: unknown } = {};
  for (let at = 0; at < shape.length; at++) {
    const [name, inner] = shape[at] ?? ['', null];
    const field = list[at];
    value[name] = inner === null ? field : inner === 'steps' ? unpackSteps(field) : unpackField(field, inner);
  }
  return value;
}

function unpackField(field: unknown, shape: Shape): unknown {
  return Array.isArray(field) ? unpack(field, shape) : field;
}

function unpackSteps(steps: unknown): unknown {
  if (!Array.isArray(steps)) return steps;
  return steps.map((step: unknown) => (Array.isArray(step) ? unpack(step, STEPS[String(step[0])] ?? []) : step));
}
