/**
 * Builders for models: they turn a list of names into members that all say the same.
 *
 * Reads:   names, separated by white space, and what the members have in common.
 * Gives:   plain data of the shapes in types.ts.
 * Reports: nothing.
 */
import type { Call, EventModel, Member, Rupture, TypeModel, ValueRef } from './types.js';

export type Members = { readonly [name: string]: Member };
type Params = readonly ValueRef[];

/** What most callbacks of core get: an error and new values. More parameters than any of them has. */
export const FRESH: Params = ['fresh', 'fresh', 'fresh', 'fresh', 'fresh'];

export function each(names: string, member: Member): Members {
  return Object.fromEntries(listed(names).map((name) => [name, member]));
}

export function listed(names: string): string[] {
  return names.trim().split(/\s+/);
}

/** Values that nothing can change: strings, numbers, flags, tables that nobody writes to. */
export function constants(names: string): Members {
  return each(names, { is: 'fresh' });
}

/** Values that the receiver or the module holds, of no type that is known. */
export function values(names: string): Members {
  return each(names, {});
}

export function calls(names: string, call: Call): Members {
  return each(names, { call: { returns: 'fresh', ...call } });
}

/** Nothing happens but that a value comes back. */
export function pure(names: string, returns: ValueRef = 'fresh'): Members {
  return each(names, { call: { returns } });
}

/** Methods that change their receiver and give it back, unless `call` says what else. */
export function chained(names: string, call: Call = {}): Members {
  return each(names, { call: { returns: 'this', mutates: ['this'], keeps: [-1], ...call } });
}

/** Methods that change their receiver and keep nothing of what they get. */
export function mutating(names: string, call: Call = {}): Members {
  return each(names, { call: { returns: 'fresh', mutates: ['this'], ...call } });
}

/** The last argument, where it is a function, is called once, later. */
export function callbackLast(names: string, call: Call = {}, params: Params = FRESH): Members {
  return each(names, { call: { returns: 'fresh', ...call, ruptures: [post('last', params)] } });
}

/** As `callbackLast`; without the callback the call gives a promise. */
export function callbackOrPromise(names: string, call: Call = {}, params: Params = FRESH): Members {
  return callbackLast(names, { promiseWithoutCallback: true, ...call }, params);
}

export function promising(names: string, call: Call = {}): Members {
  return each(names, { call: { returns: 'fresh', ...call, promise: true } });
}

/** Classes whose instances are of the type given; what the constructor gets stays in the instance. */
export function classes(names: string, type: (name: string) => string, call: Call = {}): Members {
  return Object.fromEntries(
    listed(names).map((name) => [name, { construct: { keeps: [-1], ...call, returns: type(name) } }]),
  );
}

export function post(callback: Rupture['callback'], params: Params = FRESH, rest: Partial<Rupture> = {}): Rupture {
  return { kind: 'post', callback, params, ...rest };
}

export function start(callback: Rupture['callback'], params: Params, rest: Partial<Rupture> = {}): Rupture {
  return { kind: 'start', callback, params, ...rest };
}

export function sync(callback: Rupture['callback'], params: Params, rest: Partial<Rupture> = {}): Rupture {
  return { kind: 'sync', callback, params, ...rest };
}

/** A function among the options of a middleware, which calls it for requests. `within`: what it is called there. */
export function asked(within: string, params: Params, argument = 0): readonly Rupture[] {
  return listed(within).map((name) => askedItself(params, argument, { within: name }));
}

/** A function in the place of options. */
export function askedItself(params: Params, argument = 0, rest: Partial<Rupture> = {}): Rupture {
  return start(argument, params, { request: true, held: true, ...rest });
}

/** Methods that call their first argument in place. */
export function syncCallback(names: string, params: Params, call: Call = {}): Members {
  return each(names, { call: { returns: 'fresh', ...call, ruptures: [sync(0, params)] } });
}

export function events(names: string, event: EventModel): { readonly [event: string]: EventModel } {
  return Object.fromEntries(listed(names).map((name) => [name, event]));
}

/** A type of emitter with methods of its own. */
export function emitter(members: Members, heard: TypeModel['events'] = {}): TypeModel {
  return { extends: 'events.EventEmitter', members, events: heard };
}

/** Settings of a whole package: everybody who uses it reads them. */
export function configures(names: string, call: Call = {}): Members {
  return each(names, { call: { returns: 'this', ...call, mutates: ['this'], keeps: [-1], stateful: true } });
}

/** The members as a module has them that is also its own `default`, as compiled ES modules are. */
export function withDefault(module: Member): Member {
  return { ...module, members: { ...module.members, default: module } };
}
