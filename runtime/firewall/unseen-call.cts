/**
 * Reads:   a call of one of Node's functions that the app made, and that a function of ours stands in front of.
 * Gives:   the same result; or throws the same error, which shows neither our frames nor our line.
 *
 * Above an error that nobody catches Node prints the line that threw it last. When an error is thrown out of a script of
 * `node:vm`, Node notes that line with the error. So the call is made from a script, and the error is then thrown on.
 * Node would write the line into `error.stack` too, if that were a string by then: for this moment it is none.
 */
import path = require('node:path');
import vm = require('node:vm');

type Fn = (this: unknown, ...args: unknown[]) => unknown;
type Prepare = (error: Error, frames: NodeJS.CallSite[]) => unknown;

const key = Symbol.for('fluxion.call');
const scriptName = path.join(__dirname, 'call');
const script = new vm.Script('globalThis[Symbol.for("fluxion.call")]()', { filename: scriptName });
/** Frames of ours, and of `node:vm`, that may be on the stack: errors get room for them. */
const OWN_FRAMES = 12;

class UnseenCalls {
  #work: () => unknown = () => undefined;
  #leaving = false;
  #frames: NodeJS.CallSite[] | null = null;

  constructor() {
    Object.defineProperty(globalThis, key, { value: () => this.#run(), configurable: true });
  }

  close(): void {
    Reflect.deleteProperty(globalThis, key);
  }

  call(target: Fn, self: unknown, args: readonly unknown[]): unknown {
    const limit = Error.stackTraceLimit;
    const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
    const own = prepareOf(prepare);
    const hook: Prepare = (error, frames) => {
      if (!this.#leaving) return own === null ? written(error, frames) : own(error, frames);
      this.#frames = frames;
      return frames;
    };
    this.#work = () => Reflect.apply(target, self, args);
    this.#leaving = false;
    this.#frames = null;
    if (typeof limit === 'number') Error.stackTraceLimit = limit + OWN_FRAMES;
    Object.defineProperty(Error, 'prepareStackTrace', { value: hook, configurable: true, writable: true });
    try {
      return script.runInThisContext();
    } catch (error) {
      this.#mend(error, limit, own);
      throw error;
    } finally {
      if (Error.stackTraceLimit === limit + OWN_FRAMES) Error.stackTraceLimit = limit;
      if (prepare === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
      else Object.defineProperty(Error, 'prepareStackTrace', prepare);
    }
  }

  #run(): unknown {
    try {
      return this.#work();
    } finally {
      this.#leaving = true;
    }
  }

  #mend(error: unknown, limit: number, own: Prepare | null): void {
    if (!(error instanceof Error) || this.#frames === null) return;
    const frames = this.#frames.filter((frame) => !isOurs(frame)).slice(0, limit);
    // Not an assignment: that would throw where the error is frozen.
    Reflect.set(error, 'stack', own === null ? written(error, frames) : own(error, frames));
  }
}

function prepareOf(descriptor: PropertyDescriptor | undefined): Prepare | null {
  const prepare: unknown = descriptor?.value;
  return typeof prepare === 'function' ? (error, frames) => Reflect.apply(prepare, Error, [error, frames]) : null;
}

function isOurs(frame: NodeJS.CallSite): boolean {
  const file = frame.getFileName();
  if (typeof file !== 'string') return false;
  return file.startsWith(__dirname) || (file === 'node:vm' && frame.getFunctionName() === 'runInThisContext');
}

/** As Node writes it where nobody else does. */
function written(error: Error, frames: readonly NodeJS.CallSite[]): string {
  const lines = [headOf(error), ...frames.map((frame) => `    at ${String(frame)}`)];
  return lines.join('\n');
}

function headOf(error: Error): string {
  const isNodes = Object.getOwnPropertySymbols(error).some((symbol) => symbol.description === 'kIsNodeError');
  const code: unknown = Reflect.get(error, 'code');
  if (isNodes) return `${error.name} [${String(code)}]: ${error.message}`;
  return Error.prototype.toString.call(error);
}

export = { UnseenCalls };
