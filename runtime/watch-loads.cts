/**
 * Gives: the file of each module that is loaded from now on, before it is evaluated. ES modules only where Node has
 *        hooks that run at once (22.15, 23.5).
 *
 * As in `watch-servers.cts`, the method that Node calls is looked up through a getter, so that no frame shows.
 */
import Module = require('node:module');
import url = require('node:url');

interface SyncHooks {
  registerHooks(hooks: { readonly load: Load }): void;
}

type Load = (name: string, context: unknown, next: (name: string, context: unknown) => unknown) => unknown;

function watchLoads(found: (file: string) => void): void {
  const prototype: object = Module.prototype;
  const before = Object.getOwnPropertyDescriptor(prototype, '_compile');
  if (before === undefined) return;
  let compile: unknown = before.value;
  Object.defineProperty(prototype, '_compile', {
    configurable: true,
    enumerable: true,
    get(this: object) {
      const file: unknown = Reflect.get(this, 'filename');
      if (typeof file === 'string') found(file);
      return before.get === undefined ? compile : before.get.call(this);
    },
    set(this: object, value: unknown) {
      if (this !== prototype)
        Object.defineProperty(this, '_compile', { value, writable: true, enumerable: true, configurable: true });
      else if (before.set === undefined) compile = value;
      else before.set.call(this, value);
    },
  });
  if (!hasSyncHooks(Module)) return;
  Module.registerHooks({
    load(name, context, next) {
      if (name.startsWith('file:')) found(url.fileURLToPath(name.replace(/[?#].*$/s, '')));
      return next(name, context);
    },
  });
}

function hasSyncHooks(module: object): module is SyncHooks {
  return 'registerHooks' in module && typeof module.registerHooks === 'function';
}

export = { watchLoads };
