/** As much of Express (3, 4 and 5) as the tests use; the packages come without types. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';

export interface Req extends IncomingMessage {
  readonly params: { [name: string]: string };
  readonly query: { [name: string]: unknown };
  readonly ip: string;
  readonly ips: readonly string[];
  readonly protocol: string;
  readonly secure: boolean;
  readonly xhr: boolean;
  readonly hostname: string;
  readonly fresh: boolean;
  readonly path: string;
  readonly app: App;
  readonly route: { readonly path: string };
  readonly res: Res;
  url: string;
  originalUrl: string;
  baseUrl: string;
  next: Next;
  body: { [name: string]: unknown };
  user: { [name: string]: unknown };
  readonly cookies: { [name: string]: string };
  get(name: string): string | undefined;
  is(type: string): string | false;
  accepts(...types: string[]): string | false;
  range(size: number): unknown;
  [custom: string]: unknown;
}

export interface Res extends ServerResponse<Req> {
  readonly app: App;
  locals: { [name: string]: unknown };
  status(code: number): Res;
  sendStatus(code: number): Res;
  send(body?: unknown): Res;
  json(body?: unknown): Res;
  jsonp(body?: unknown): Res;
  set(name: string, value?: unknown): Res;
  header(name: string, value: unknown): Res;
  append(name: string, value: unknown): Res;
  type(type: string): Res;
  vary(name: string): Res;
  links(links: { [rel: string]: string }): Res;
  location(url: string): Res;
  redirect(...args: unknown[]): void;
  cookie(name: string, value: unknown, options?: object): Res;
  clearCookie(name: string): Res;
  attachment(name?: string): Res;
  format(choices: { [type: string]: (req: Req, res: Res) => void }): Res;
  render(view: string, locals?: object): void;
  sendFile(path: string, options?: object, callback?: (error?: Error) => void): void;
  sendfile(path: string): void;
  download(path: string, name?: string): void;
}

export type Next = (...args: unknown[]) => void;
export type Handler = (req: Req, res: Res, next: Next) => unknown;
export type ErrorHandler = (err: Error & { status?: number; code?: string }, req: Req, res: Res, next: Next) => unknown;

export interface App extends RequestListener {
  readonly settings: { [name: string]: unknown };
  readonly locals: { [name: string]: unknown };
  use(handler: Handler): App;
  use(handler: ErrorHandler | App): App;
  use(path: string | readonly string[], handler: Handler | App): App;
  get(path: string | RegExp | readonly string[], ...handlers: Handler[]): App;
  post(path: string, ...handlers: Handler[]): App;
  put(path: string, ...handlers: Handler[]): App;
  param(name: string, handler: Handler): App;
  all(path: string, ...handlers: Handler[]): App;
  set(name: string, value: unknown): App;
  enable(name: string): App;
  disable(name: string): App;
  engine(name: string, render: (file: string, locals: { [name: string]: unknown }, done: Next) => void): App;
}

export interface Express {
  (): App;
  json(options?: object): Handler;
  Router(options?: object): App;
}

const require = createRequire(import.meta.url);

export function load(version: 3 | 4 | 5): Express {
  return require(version === 5 ? 'express' : `express${version}`);
}
