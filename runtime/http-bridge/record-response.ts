/**
 * Gives: a hand in the methods by which a response sends something. On a stand-in they do what they always do, with
 *        their checks and errors, and tell its recorder; on all other responses they do just that.
 *
 * They are replaced on the prototype, once for each thread that has stand-ins, and before the app is loaded: Express
 * sets the prototype of each response, and code may look at own properties.
 */
import shortSend from '../fast-path/short-send.cjs';
import { ServerResponse } from '../node-http.js';
import { renewNames } from './become-other.js';
import { Mark } from './exchange-of.js';
import { genuine } from './genuine.js';

export type Recorded = 'writeHead' | 'write' | 'end' | 'cork' | 'uncork' | 'flushHeaders' | 'addTrailers' | Information;
export type Information = 'writeContinue' | 'writeProcessing' | 'writeEarlyHints';

export interface Recorder {
  call(method: Recorded, args: unknown[]): unknown;
}

export const recorders = new Mark<Recorder>();

let installed = false;

export function recordResponses(): void {
  if (installed) return;
  installed = true;
  replace('writeHead');
  replace('write');
  replace('end');
  replace('cork');
  replace('uncork');
  replace('flushHeaders');
  replace('addTrailers');
  replace('writeContinue');
  replace('writeProcessing');
  replace('writeEarlyHints');
  shortSend.knowEnd(ServerResponse.prototype.end);
  Reflect.set(ServerResponse.prototype, 'writeHeader', ServerResponse.prototype.writeHead);
}

export function renewBoth(res: ServerResponse): void {
  renewNames(res.req);
  renewNames(res);
}

function replace(method: Recorded): void {
  const original: (...args: never[]) => unknown = genuine[method];
  function recorded(this: ServerResponse, ...args: unknown[]): unknown {
    const recorder = recorders.get(this);
    if (recorder !== undefined) return recorder.call(method, args);
    // Who listens for the end looks at what there is by then.
    if (method === 'end') renewBoth(this);
    return Reflect.apply(original, this, args);
  }
  for (const name of ['name', 'length'] as const) {
    Object.defineProperty(recorded, name, { value: original[name], configurable: true });
  }
  const enumerable = Object.getOwnPropertyDescriptor(ServerResponse.prototype, method)?.enumerable ?? true;
  Object.defineProperty(ServerResponse.prototype, method, {
    value: recorded,
    enumerable,
    writable: true,
    configurable: true,
  });
}
