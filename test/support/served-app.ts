import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import type { LinkReport } from '../../flx/link-report.js';
import type { AcceptReport } from '../../runtime/report.js';
import type { Fixture } from './fixture.js';
import { turnOf } from './in-turn.js';
import { prepare } from './prepare.js';
import { cliPath } from './run-cli.js';
import { link, type Tree, tempFolder } from './temp-folder.js';

/** Packages that apps of tests may use. */
export const modulesFolder = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** What `--report` writes. */
export interface ReportJson {
  readonly version: number;
  readonly loops: readonly {
    readonly id: string;
    readonly requests: number;
    readonly busy: number;
    readonly rssMb: number;
  }[];
  readonly fluxions: readonly ReportedFluxion[];
  readonly bus: { readonly messages: number; readonly bytes: number };
  readonly decisions: readonly { readonly atMs: number; readonly what: string; readonly why: string }[];
  readonly aside: string | null;
  readonly link: LinkReport | null;
  readonly accept: readonly AcceptReport[];
}

export interface ReportedFluxion {
  readonly id: string;
  readonly placement: string;
  readonly runs: { readonly [loop: string]: number };
  readonly cpuMs: number;
  readonly waitMs: number;
  readonly reruns: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export interface ServeOptions {
  /** Before the entry; null: plain node. */
  readonly flags: readonly string[] | null;
  readonly env?: NodeJS.ProcessEnv;
  /** So many replicas are ready before the app is given to the test. */
  readonly replicas?: number;
  /** Of a fixture: what an earlier run has compiled there is used again. */
  readonly folder?: string;
  /** Where what is compiled is kept; in the app's folder if not given. */
  readonly cache?: string;
}

/** Below what ava waits for all tests of a file: one that waits in vain says for what. */
const PATIENCE_MS = 200_000;

/** None outlives the tests, however these end. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** `fluxion run` of an app, in a process of its own that ends with the test. The app prints its port when it listens. */
export class ServedApp {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  port = 0;
  stdout = '';
  stderr = '';
  /** An idle connection is given up before the server does so: a request may be on its way there then. */
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 64, timeout: 3_000 });
  #heard: (() => void)[] = [];
  /** And all that it has said has been heard. */
  #hasEnded = false;

  private constructor(child: ChildProcess, folder: string) {
    this.child = child;
    this.folder = folder;
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(() => (this.stdout += text)));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#hear(() => (this.stderr += text)));
    child.on('close', () => this.#hear(() => (this.#hasEnded = true)));
  }

  static async serve(t: ExecutionContext, tree: Tree, options: ServeOptions): Promise<ServedApp> {
    const folder = tempFolder(t, { node_modules: link(modulesFolder), ...tree });
    return ServedApp.#start(t, folder, join(folder, 'app.js'), options);
  }

  /** The same app once more, where it was before. */
  static serveAgain(t: ExecutionContext, folder: string, options: ServeOptions): Promise<ServedApp> {
    return ServedApp.#start(t, folder, join(folder, 'app.js'), options);
  }

  /** One that is there already, and listens on the port that it is told. */
  static serveFixture(t: ExecutionContext, app: Fixture, options: ServeOptions): Promise<ServedApp> {
    const env = { PORT: '0', NODE_ENV: undefined, ...options.env };
    return ServedApp.#start(t, options.folder ?? tempFolder(t), join(app.folder, app.entry), { ...options, env });
  }

  /** What is written about it goes to the folder. */
  static async #start(t: ExecutionContext, folder: string, entry: string, options: ServeOptions): Promise<ServedApp> {
    const { flags, env, replicas = 0 } = options;
    await turnOf(t);
    const run = [cliPath, 'run', '--report', join(folder, 'report.json'), '--log-level', 'debug', ...(flags ?? [])];
    const { NODE_OPTIONS: _options, ...inherited } = process.env;
    const { cache = join(folder, 'cache') } = options;
    if (flags !== null && !flags.includes('--config')) await prepare(entry, folder, cache);
    const child = spawn(process.execPath, [...(flags === null ? [] : run), entry], {
      cwd: folder,
      env: { ...inherited, FLUXION_CACHE: cache, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const app = new ServedApp(child, folder);
    t.teardown(() => app.#end());
    const port = await app.says(/^port (\d+)$/m);
    app.port = Number(port[1]);
    await app.hasReplicas(replicas);
    return app;
  }

  /** So many have started since the beginning. */
  hasReplicas(count: number): Promise<unknown> {
    return this.until(() => [...this.stderr.matchAll(/replica-\d+ is ready/g)].length >= count);
  }

  /** Of what it asks the compiler about its live handlers, it has the answer. */
  hasHeardCompiler(): Promise<unknown> {
    return this.until(
      () => !this.stderr.includes('the app said what') || this.stderr.includes('the compiler has heard'),
    );
  }

  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.until(() => pattern.exec(this.stdout) ?? pattern.exec(this.stderr));
  }

  /** Looks each time the app has said something. */
  async until<T>(look: () => T | null | false): Promise<T> {
    let isLate = false;
    const limit = setTimeout(() => this.#hear(() => (isLate = true)), PATIENCE_MS);
    try {
      for (;;) {
        const found = look();
        if (found !== null && found !== false) return found;
        if (this.#hasEnded || isLate) {
          const why = this.#hasEnded ? 'the app has ended' : `nothing after ${PATIENCE_MS / 1000} s`;
          throw new Error(`${why}, ${look}:\n${this.stdout}\n${this.stderr}`);
        }
        await new Promise<void>((resolve) => this.#heard.push(resolve));
      }
    } finally {
      clearTimeout(limit);
    }
  }

  /** Asks again and again until it has happened: how often that takes depends on the machine. */
  async askUntil(happened: Promise<unknown>, ask: () => Promise<unknown>): Promise<void> {
    let isOver = false;
    const end = (): boolean => (isOver = true);
    happened.then(end, end);
    while (!isOver) await ask();
    await happened;
  }

  get(path: string, options: http.RequestOptions = {}): Promise<Reply> {
    return this.request(path, options, null);
  }

  request(path: string, options: http.RequestOptions, body: string | null): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const req = http.request({ port: this.port, path, agent: this.#agent, ...options }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
        res.on('error', (error) => reject(this.#withItsState(error)));
      });
      req.on('error', (error) => reject(this.#withItsState(error)));
      req.end(body ?? undefined);
    });
  }

  /** A connection that ended may be one that was given up, or the end of the app. */
  #withItsState(error: Error): Error {
    const { exitCode, signalCode } = this.child;
    const state = exitCode ?? signalCode;
    error.message += `; the app ${state === null ? 'runs' : `has ended with ${state}`}, and said at last:\n`;
    error.message += this.stderr.split('\n').slice(-20).join('\n');
    return error;
  }

  /** `count` requests, so many at a time as there are sockets. */
  many(count: number, path: (index: number) => string): Promise<Reply[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => this.get(path(index))));
  }

  /** Its lines that Fluxion wrote at this level. */
  logged(level: string): readonly string[] {
    return this.stderr.split('\n').filter((line) => line.startsWith(`fluxion ${level}: `));
  }

  async report(): Promise<ReportJson> {
    this.child.kill('SIGTERM');
    await this.ended;
    return this.readReport();
  }

  readReport(): ReportJson {
    return JSON.parse(readFileSync(this.file('report.json'), 'utf8'));
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  lines(name: string): readonly string[] {
    return existsSync(this.file(name)) ? readFileSync(this.file(name), 'utf8').split('\n').filter(Boolean) : [];
  }

  async #end(): Promise<void> {
    this.#agent.destroy();
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.ended;
  }

  #hear(note: () => void): void {
    note();
    const heard = this.#heard;
    this.#heard = [];
    for (const each of heard) each();
  }
}

export function fluxionOf(report: ReportJson, id: string): ReportedFluxion {
  const found = report.fluxions.find((fluxion) => fluxion.id === id);
  if (found === undefined) throw new Error(`${id} is not among ${report.fluxions.map((each) => each.id).join(', ')}`);
  return found;
}

/** Runs on all replicas together. */
export function runsAway(report: ReportJson, id: string): number {
  const { home = 0, ...away } = fluxionOf(report, id).runs;
  void home;
  return Object.values(away).reduce((sum, runs) => sum + runs, 0);
}
