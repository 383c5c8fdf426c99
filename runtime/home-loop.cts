/**
 * The registry that emitted modules ask at each cut, as it is from the first line of the app on: everything goes on in
 * place, until the app serves and `decide` says what leaves this loop.
 */
import type { Code, Cuts, Make, SwitchableLoop } from './types.js' with { 'resolution-mode': 'import' };

function makeLoop(): SwitchableLoop {
  const makes = new Map<string, Make>();
  let cuts: Cuts | null = null;
  let passed: (() => void) | null = null;
  return {
    makes,
    decide: (decided) => void (cuts = decided),
    noticed: (listener) => void (passed = listener),
    define: (id, make) => void makes.set(id, make),
    post(id: string, closure: Code, vars: () => unknown[]) {
      if (cuts !== null) return cuts.post(id, closure, vars);
      passed?.();
      return closure;
    },
    away(id) {
      if (cuts !== null) return cuts.away(id);
      passed?.();
      return false;
    },
    send(id, vars) {
      if (cuts === null) throw new Error(`no other loop runs ${id}`);
      return cuts.send(id, vars);
    },
  };
}

/** Not enumerable: the app's globals look as they always did. */
function setLoop(loop: SwitchableLoop): void {
  Object.defineProperty(globalThis, Symbol.for('fluxion.loop'), { value: loop, configurable: true, writable: true });
}

export = { makeLoop, setLoop };
