/**
 * Asks V8 about functions of the running program, through the inspector of this very thread: no port is opened, and
 * nothing is paused. Where a function stands in which file, and what the variables are worth that it closes over.
 */
import { createHash } from 'node:crypto';
import { url as inspectorUrl, Session } from 'node:inspector';
import process from '../node-process.cjs';

/** Line and column count from 1. The column is that of the parameters: behind `function name`, but at `async` of an
 *  arrow function. */
export interface FunctionPlace {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

interface RemoteValue {
  readonly type: string;
  readonly objectId?: string;
  readonly value?: unknown;
}

interface RemoteProperty {
  readonly name: string;
  readonly value?: RemoteValue;
}

interface Properties {
  readonly result: readonly RemoteProperty[];
  readonly internalProperties?: readonly RemoteProperty[];
  readonly privateProperties?: readonly RemoteProperty[];
}

export interface Bound {
  readonly target: object;
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** Values go in and out through this: the inspector knows values of this thread by what it can name. */
const exchange = Symbol('fluxion.reflect');

/** V8 makes a hash of each text before it names a script for the first time, so it is not asked more often than needed. */
const urls = new Map<string, string>();

/**
 * Functions that were found in this thread, by their sign. Where another one finds a function of the same text in the same line and
 * column it is in the same file, and V8 is not asked at all there: that takes up to a fifth of a replica's start-up. Null: of several
 * files.
 */
export type Signs = ReadonlyMap<string, string | null>;

const signs = new Map<string, string | null>();
let expected: Signs = new Map();

/** For other threads of the same program. */
export function foundSigns(): Signs {
  return signs;
}

export function expectSigns(ofAnother: Signs): void {
  expected = ofAnother;
}

export class Reflector {
  readonly #session = new Session();
  #hasAsked = false;
  /** What is done where the program is stopped; nothing, but where this stops it itself. */
  #paused: ((callFrameId: string | undefined) => void) | null = null;
  #canStop = false;

  constructor() {
    this.#session.connect();
    this.#session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url));
  }

  /** Files that code of this thread came from, as URLs or paths. */
  scripts(): Iterable<string> {
    this.#askForScripts();
    return urls.values();
  }

  /** For each function its place, that of what is bound for a bound one; null for built-in functions. */
  locate(functions: readonly object[]): readonly (FunctionPlace | null)[] {
    return this.#withRemote(functions, (objectId, index) => this.#placeOf(objectId, functions[index] ?? null));
  }

  /** The variables around a function that some function there uses, inner ones first; global ones only by name. */
  variables(fn: object, isWanted: ((name: string) => boolean) | null = null): ReadonlyMap<string, unknown> {
    const found = new Map<string, unknown>();
    this.#withRemote([fn], (objectId) => this.#readScopes(this.#properties(objectId), isWanted, found));
    return found;
  }

  /** Both at once. `wanted` says, by the place, which variables to read; null: none. */
  look(
    fn: object,
    wanted: (place: FunctionPlace) => ((name: string) => boolean) | null,
  ): { readonly place: FunctionPlace | null; readonly variables: ReadonlyMap<string, unknown> } {
    const found = new Map<string, unknown>();
    Reflect.set(globalThis, exchange, fn);
    const objectId = remoteResult(this.#post('Runtime.evaluate', { expression: KEY }))?.objectId ?? '';
    Reflect.deleteProperty(globalThis, exchange);
    const properties = this.#properties(objectId);
    const place = this.#placeIn(properties, fn);
    const isWanted = place === null ? null : wanted(place);
    if (isWanted !== null) this.#readScopes(properties, isWanted, found);
    this.#post('Runtime.releaseObject', { objectId });
    return { place, variables: found };
  }

  /** What `bind` was given; null for a function that it did not make. */
  bound(fn: object): Bound | null {
    const [found] = this.#withRemote([fn], (objectId) => {
      const { internalProperties = [] } = this.#properties(objectId);
      const read = (name: string): unknown => {
        const value = internalProperties.find((property) => property.name === name)?.value;
        return value === undefined ? undefined : this.#localValue(value);
      };
      const [target, args] = [read('[[TargetFunction]]'), read('[[BoundArgs]]')];
      if (typeof target !== 'function') return null;
      return { target, self: read('[[BoundThis]]'), args: Array.isArray(args) ? args : [] };
    });
    return found ?? null;
  }

  /**
   * The `this` of an arrow function, which is that of the code around it; null where nobody can tell. V8 names it only where the
   * function is stopped, so it is called, stopped before its first statement, and given up: nothing of it runs.
   */
  lexicalThis(fn: object): { readonly is: unknown } | null {
    const known = receivers.get(fn);
    if (known !== undefined) return known;
    receiversCanBeAsked ??= this.#tryToAsk();
    const found = receiversCanBeAsked ? this.#stopIn(fn) : null;
    receivers.set(fn, found);
    return found;
  }

  /** Private fields of an instance. */
  privates(object: object): ReadonlyMap<string, unknown> {
    const found = new Map<string, unknown>();
    this.#withRemote([object], (objectId) => {
      for (const { name, value } of this.#properties(objectId).privateProperties ?? []) {
        if (value !== undefined) found.set(name, this.#localValue(value));
      }
    });
    return found;
  }

  /** Null for a promise that is pending. */
  settled(promise: object): { readonly value: unknown } | null {
    const [found] = this.#withRemote([promise], (objectId) => {
      const { internalProperties = [] } = this.#properties(objectId);
      const read = (name: string) => internalProperties.find((property) => property.name === name)?.value;
      if (read('[[PromiseState]]')?.value === 'pending') return null;
      const result = read('[[PromiseResult]]');
      return { value: result === undefined ? undefined : this.#localValue(result) };
    });
    return found ?? null;
  }

  /** All objects and functions that there are. V8 collects its garbage for that, which takes as long as the heap is large. */
  objects(): readonly object[] {
    Reflect.set(globalThis, exchange, Object.prototype);
    const prototypeObjectId = remoteResult(this.#post('Runtime.evaluate', { expression: KEY }))?.objectId ?? '';
    Reflect.deleteProperty(globalThis, exchange);
    const list = this.#localValue(remoteObjects(this.#post('Runtime.queryObjects', { prototypeObjectId })));
    this.#post('Runtime.releaseObject', { objectId: prototypeObjectId });
    return Array.isArray(list) ? list : [];
  }

  close(): void {
    this.#session.disconnect();
  }

  /** All are named at once; then it is switched off again, so that no `debugger` statement can stop the program. */
  #askForScripts(): void {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    this.#post('Debugger.enable');
    if (!this.#canStop) this.#post('Debugger.disable');
  }

  /** Not where somebody else may see the program stop, or keep it so; and only if V8 does what it is taken to do. */
  #tryToAsk(): boolean {
    if (isInspected()) return false;
    let ran = false;
    const around = {
      make() {
        return () => {
          ran = true;
          return this;
        };
      },
    };
    const found = this.#stopIn(around.make());
    return found?.is === around && !ran;
  }

  #stopIn(fn: object): { readonly is: unknown } | null {
    if (!this.#canStop) {
      this.#session.on('Debugger.paused', ({ params }) => this.#paused?.(params.callFrames[0]?.callFrameId));
      this.#post('Debugger.enable');
      this.#canStop = true;
    }
    let found: { readonly is: unknown } | null = null;
    this.#withRemote([fn], (objectId) => {
      const stop = stopId(this.#post('Debugger.setBreakpointOnFunctionCall', { objectId }));
      this.#paused = (callFrameId) => {
        this.#paused = null;
        Reflect.set(globalThis, exchange, (is: unknown) => void (found = { is }));
        this.#post('Debugger.evaluateOnCallFrame', { callFrameId, expression: `${KEY}(this)` });
        this.#post('Debugger.resume', { terminateOnResume: true });
      };
      this.#post('Debugger.setSkipAllPauses', { skip: false });
      Reflect.set(globalThis, exchange, [fn, anything]);
      // That it was given up, or could not take what it was called with, is no news.
      this.#session.post('Runtime.evaluate', { expression: CALL }, () => {});
      Reflect.deleteProperty(globalThis, exchange);
      this.#paused = null;
      // The program's own `debugger` statements stop nothing.
      this.#post('Debugger.setSkipAllPauses', { skip: true });
      this.#post('Debugger.removeBreakpoint', { breakpointId: stop });
    });
    return found;
  }

  #placeOf(objectId: string, fn: object | null): FunctionPlace | null {
    return this.#placeIn(this.#properties(objectId), fn);
  }

  /** `fn`: whose properties they are, where that is at hand. */
  #placeIn({ internalProperties = [] }: Properties, fn: object | null): FunctionPlace | null {
    const target = internalProperties.find(({ name }) => name === '[[TargetFunction]]')?.value?.objectId;
    if (target !== undefined) return this.#placeOf(target, null);
    const location = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')?.value?.value;
    if (!isLocation(location)) return null;
    const [line, column] = [location.lineNumber + 1, location.columnNumber + 1];
    const sign = typeof fn === 'function' ? `${line}:${column}:${hashOf(fn)}` : '';
    let url = urls.get(location.scriptId) ?? expected.get(sign);
    if (url == null) {
      this.#askForScripts();
      url = urls.get(location.scriptId);
    }
    if (url === undefined) return null;
    if (sign !== '') signs.set(sign, !signs.has(sign) || signs.get(sign) === url ? url : null);
    return { url, line, column };
  }

  /**
   * V8 gives each scope as an object with the variables as properties, made for us: read here, it costs a hundredth of asking
   * the inspector for each of them.
   */
  #readScopes(
    { internalProperties = [] }: Properties,
    isWanted: ((name: string) => boolean) | null,
    into: Map<string, unknown>,
  ): void {
    const scopes = internalProperties.find(({ name }) => name === '[[Scopes]]')?.value;
    const list: unknown = scopes === undefined ? [] : this.#localValue(scopes);
    for (const entry of Array.isArray(list) ? Array.from<unknown>(list) : []) {
      const scope: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'object') : null;
      if (typeof scope !== 'object' || scope === null || (scope === globalThis && isWanted === null)) continue;
      for (const name of Object.getOwnPropertyNames(scope)) {
        if (into.has(name) || isWanted?.(name) === false) continue;
        const value = valueIn(scope, name);
        if (value !== null) into.set(name, value.is);
      }
    }
  }

  #localValue(value: RemoteValue): unknown {
    if (value.objectId === undefined) return value.value;
    let local: unknown;
    Reflect.set(globalThis, exchange, (given: unknown) => void (local = given));
    this.#post('Runtime.callFunctionOn', {
      objectId: value.objectId,
      functionDeclaration: `function () { ${KEY}(this); }`,
    });
    Reflect.deleteProperty(globalThis, exchange);
    return local;
  }

  #withRemote<T>(values: readonly object[], use: (objectId: string, index: number) => T): T[] {
    Reflect.set(globalThis, exchange, values);
    const list = remoteResult(this.#post('Runtime.evaluate', { expression: KEY }))?.objectId ?? '';
    Reflect.deleteProperty(globalThis, exchange);
    const remote = this.#properties(list).result.filter(({ name }) => /^\d+$/.test(name));
    const results = remote.map(({ value }, index) => use(value?.objectId ?? '', index));
    this.#post('Runtime.releaseObject', { objectId: list });
    return results;
  }

  #properties(objectId: string): Properties {
    const found = this.#post('Runtime.getProperties', { objectId, ownProperties: true });
    return isProperties(found) ? found : { result: [] };
  }

  /** A session with one's own thread answers before `post` returns. */
  #post(method: string, params?: object): unknown {
    let answer: unknown;
    this.#session.post(method, params, (error: Error | null, result?: object) => {
      if (error !== null) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}

/** Found by its description, as the inspector cannot be given a symbol. */
const KEY = `globalThis[Object.getOwnPropertySymbols(globalThis).find((s) => s.description === 'fluxion.reflect')]`;

/** It is called with what can be taken apart in any way. */
const CALL = `((called) => (0, called[0])(${Array.from({ length: 8 }, () => 'called[1]').join()}))(${KEY})`;
const anything: object = new Proxy({}, { get: (): object => anything });

/** It never changes. */
const receivers = new WeakMap<object, { readonly is: unknown } | null>();
let receiversCanBeAsked: boolean | null = null;

/** A debugger is attached to this process, or may be. */
function isInspected(): boolean {
  const words = [...process.execArgv, process.env.NODE_OPTIONS ?? ''];
  return inspectorUrl() !== undefined || words.some((word) => word.includes('--inspect'));
}

function stopId(value: unknown): string {
  return typeof value === 'object' && value !== null && 'breakpointId' in value ? String(value.breakpointId) : '';
}

function isLocation(value: unknown): value is { scriptId: string; lineNumber: number; columnNumber: number } {
  return typeof value === 'object' && value !== null && 'scriptId' in value && 'lineNumber' in value;
}

function isProperties(value: unknown): value is Properties {
  return typeof value === 'object' && value !== null && 'result' in value && Array.isArray(value.result);
}

function hashOf(fn: object): string {
  return createHash('sha1').update(Function.prototype.toString.call(fn)).digest('base64');
}

/** Null for what would have to be computed, and for variables whose declaration has not been reached. */
function valueIn(scope: object, name: string): { readonly is: unknown } | null {
  try {
    const found = Object.getOwnPropertyDescriptor(scope, name);
    return found !== undefined && 'value' in found ? { is: found.value } : null;
  } catch {
    return null;
  }
}

function remoteObjects(value: unknown): RemoteValue {
  if (typeof value !== 'object' || value === null || !('objects' in value)) return { type: 'undefined' };
  return remoteResult({ result: value.objects }) ?? { type: 'undefined' };
}

function remoteResult(value: unknown): RemoteValue | null {
  if (typeof value !== 'object' || value === null || !('result' in value)) return null;
  const { result } = value;
  return typeof result === 'object' && result !== null && 'type' in result && typeof result.type === 'string'
    ? { type: result.type, ...('objectId' in result ? { objectId: String(result.objectId) } : {}) }
    : null;
}
