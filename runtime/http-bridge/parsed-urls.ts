/**
 * Reads: the parsed URL that Express's own `parseurl` keeps on a request, for whoever asks next. Some apps read it there.
 * Gives: the same on the other side, made anew from the text instead of being sent.
 */
import type { IncomingMessage } from 'node:http';
import url from 'node:url';

/** Where it is kept, and the property whose text it is of. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ['_parsedUrl', 'url'],
  ['_parsedOriginalUrl', 'originalUrl'],
]);

/** Node's class of what `url.parse` gives, which its types know as a shape only. */
const LegacyUrl: unknown = Reflect.get(url, 'Url');

/** Others are left to be parsed by who needs them. */
const PLAIN = /^\/[^?#\s\u00a0\ufeff]*(\?[^#\s\u00a0\ufeff]*)?$/;

/** The names of those that are up to date. */
export function keptUrls(req: IncomingMessage): string[] {
  const names: string[] = [];
  for (const [name, of] of KEPT) {
    const kept: unknown = Reflect.get(req, name);
    if (typeof kept === 'object' && kept !== null && Reflect.get(kept, '_raw') === Reflect.get(req, of))
      names.push(name);
  }
  return names;
}

export function isKeptUrl(name: string): boolean {
  return KEPT.has(name);
}

/** On a stand-in that has the text already. */
export function keepUrl(req: object, name: string): void {
  const text: unknown = Reflect.get(req, KEPT.get(name) ?? '');
  if (typeof text !== 'string' || typeof LegacyUrl !== 'function' || !PLAIN.test(text)) return;
  const parsed: object = Reflect.construct(LegacyUrl, []);
  const at = text.indexOf('?');
  Object.assign(parsed, { path: text, href: text, pathname: at === -1 ? text : text.slice(0, at) });
  if (at !== -1) Object.assign(parsed, { query: text.slice(at + 1), search: text.slice(at) });
  Reflect.set(parsed, '_raw', text);
  Reflect.set(req, name, parsed);
}
