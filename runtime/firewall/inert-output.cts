/**
 * Reads:   what home's standard streams are.
 * Gives:   streams that look like them. At start-up what is written is dropped, later it goes to home; nothing is read.
 */
import stream = require('node:stream');
import tty = require('node:tty');
import patching = require('./patches.cjs');
import walls = require('./wall.cjs');

import type { ProcessFacts, StreamFacts } from './startup-record.cjs';

type Wall = InstanceType<typeof walls.Wall>;
type Patches = InstanceType<typeof patching.Patches>;

function redirectOutput(wall: Wall, patches: Patches, facts: ProcessFacts): void {
  const stdout = outputStream(wall, 1, facts.stdout);
  const stderr = outputStream(wall, 2, facts.stderr);
  const stdin = inputStream(facts.stdinIsTTY);
  for (const [made, name] of [
    [stdout, 'stdout'],
    [stderr, 'stderr'],
    [stdin, 'stdin'],
  ] as const)
    answerNode(made, process[name]);
  patches.put(process, 'stdout', { get: () => stdout });
  patches.put(process, 'stderr', { get: () => stderr });
  patches.put(process, 'stdin', { get: () => stdin });
  // The console may have looked for its streams already.
  Reflect.set(console, '_stdout', stdout);
  Reflect.set(console, '_stderr', stderr);
}

function outputStream(wall: Wall, fd: 1 | 2, facts: StreamFacts): stream.Writable {
  const made = new stream.Writable({
    decodeStrings: true,
    write(chunk: Uint8Array, _encoding, done) {
      if (!wall.up && chunk.length > 0) wall.hooks?.output(fd, chunk, false);
      done();
    },
    // As Node's own, it cannot be closed.
    destroy: (error, done) => done(error),
  });
  const members = {
    fd,
    _type: facts.isTTY ? 'tty' : 'pipe',
    _isStdio: true,
    destroySoon: made.destroy,
    ...(facts.isTTY ? terminalMembers(facts) : {}),
  };
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(made, key, { value, writable: true, configurable: true, enumerable: true });
  }
  return made;
}

function terminalMembers(facts: StreamFacts): object {
  const { cursorTo, moveCursor, clearLine, clearScreenDown, hasColors } = tty.WriteStream.prototype;
  return {
    isTTY: true,
    columns: facts.columns,
    rows: facts.rows,
    getWindowSize: () => [facts.columns, facts.rows],
    getColorDepth: () => facts.colorDepth,
    cursorTo,
    moveCursor,
    clearLine,
    clearScreenDown,
    hasColors,
  };
}

/** Node's own messages between threads look for methods of the streams that it made. */
function answerNode(made: object, original: object): void {
  const prototype: object = Object.getPrototypeOf(original);
  for (const key of Object.getOwnPropertySymbols(prototype)) {
    const method: unknown = Reflect.get(prototype, key);
    if (!patching.isFunction(method)) continue;
    Object.defineProperty(made, key, { value: (...args: unknown[]) => Reflect.apply(method, original, args) });
  }
}

/** Home reads it: here nothing ever comes. */
function inputStream(isTTY: boolean): stream.Readable {
  const made: stream.Readable = new stream.Readable({ read: () => {} });
  const self = (): stream.Readable => made;
  const members = { fd: 0, ref: self, unref: self, ...(isTTY ? { isTTY: true, isRaw: false, setRawMode: self } : {}) };
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(made, key, { value, writable: true, configurable: true, enumerable: true });
  }
  return made;
}

export = { redirectOutput };
