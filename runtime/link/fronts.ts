/**
 * Reads: a listener of a server that has taken the place of those that were there before (socket.io, engine.io).
 * Gives: how the addresses begin whose requests it answers itself; all others it passes on to them, and does nothing else. Null where
 *        that is not known.
 */
import type { FunctionPlace, Reflector } from './reflect.js';

interface Front {
  readonly file: RegExp;
  /** What it does with a request, as far as it matters. */
  readonly text: RegExp;
  prefix(variables: ReadonlyMap<string, unknown>, inner: (listener: object) => string | null): string | null;
}

const FRONTS: readonly Front[] = [
  {
    file: /[\\/]node_modules[\\/]engine\.io[\\/]build[\\/]server\.js$/,
    text: /^\(req, res\) => \{\s*if \(check\(req\)\) \{[^{}]*\}\s*else \{[\s\S]*?listeners\[i\]\.call\(server(?:\.\w+)?, req, res\);\s*\}\s*\}\s*\}$/,
    prefix: (variables) => {
      const [path, check] = [variables.get('path'), variables.get('check')];
      const isKnown = typeof check === 'function' && /path === req\.url\.slice\(0, path\.length\)/.test(String(check));
      // What serves files beside it leaves out the last slash.
      return typeof path === 'string' && isKnown ? path.replace(/\/$/, '') : null;
    },
  },
  {
    file: /[\\/]node_modules[\\/]socket\.io[\\/]dist[\\/]index\.js$/,
    text: /^\(req, res\) => \{\s*if \((?:req\.url\.startsWith\(this\._path\)|this\.clientPathRegex\.test\(req\.url\))\) \{[\s\S]*evs\[i\]\.call\(srv, req, res\);\s*\}\s*\}?\s*\}$/,
    prefix: (variables, inner) => {
      const before: unknown = variables.get('evs');
      const [first] = Array.isArray(before) && before.length === 1 ? before : [];
      return typeof first === 'function' ? inner(first) : null;
    },
  },
];

export function frontPrefix(listener: object, place: FunctionPlace | null, reflector: Reflector): string | null {
  const front = place === null ? undefined : FRONTS.find(({ file }) => file.test(place.url.replace(/[?#].*$/s, '')));
  if (front === undefined || !front.text.test(Function.prototype.toString.call(listener))) return null;
  const inner = (each: object): string | null => frontPrefix(each, reflector.locate([each])[0] ?? null, reflector);
  const prefix = front.prefix(reflector.variables(listener), inner);
  // One that is empty is no prefix.
  return prefix?.startsWith('/') ? prefix : null;
}
