/**
 * One server of a peer: a process group of its own, so that all that it starts can be measured and ended together.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from './connection.js';
import { type Usage, usageOfGroup } from './usage.js';
import { get } from './workload.js';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
}

const START_MS = 40_000;
const ASK_AGAIN_MS = 2;
const MOST_OUTPUT = 4_000;

/**
 * Ends the groups that are still there when the bench is gone, however it went. It is told what comes and goes by lines
 * (`+17`, `-17`), and that the bench is gone by the end of its input.
 */
const REAPER = `groups=' '
while read sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done`;

let reaper: ChildProcess | null = null;

function tellReaper(line: string): void {
  if (reaper === null) {
    reaper = spawn('sh', ['-c', REAPER], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    reaper.unref();
    const { stdin } = reaper;
    stdin?.on('error', () => {});
    if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  }
  reaper.stdin?.write(`${line}\n`);
}

export class Server {
  readonly #child: ChildProcess;
  readonly #group: number;
  #output = '';
  #isOver = false;

  private constructor(
    child: ChildProcess,
    readonly port: number,
  ) {
    this.#child = child;
    this.#group = child.pid ?? 0;
    const keep = (chunk: unknown): void => {
      this.#output = (this.#output + String(chunk)).slice(-MOST_OUTPUT);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.once('exit', () => (this.#isOver = true));
  }

  /** Serves when this resolves; `startMs` is how long that took, from nothing to its first answer. */
  static async start(command: Command, port: number, first: string): Promise<{ server: Server; startMs: number }> {
    const begin = performance.now();
    const child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production', ...command.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    child.on('error', () => {});
    if (child.pid === undefined) throw new Error(`${command.file} cannot be started`);
    tellReaper(`+ ${child.pid}`);
    const server = new Server(child, port);
    try {
      await server.#answers(begin, first);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return { server, startMs: performance.now() - begin };
  }

  async #answers(begin: number, first: string): Promise<void> {
    const connection = new Connection(this.port);
    const request = get(first);
    for (;;) {
      try {
        await connection.ask(request, START_MS);
        connection.close();
        return;
      } catch {
        if (this.#isOver) throw new Error(`it ended instead of serving: ${this.said}`);
        if (performance.now() - begin > START_MS) throw new Error(`no answer within ${START_MS} ms: ${this.said}`);
        await wait(ASK_AGAIN_MS);
      }
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get pid(): number {
    return this.#group;
  }

  /** The end of what it wrote, on either stream. */
  get said(): string {
    return this.#output.trim();
  }

  usage(): Usage | null {
    return usageOfGroup(this.#group);
  }

  async stop(): Promise<void> {
    const ended = this.#isOver ? null : once(this.#child, 'exit');
    try {
      process.kill(-this.#group, 'SIGKILL');
    } catch {
      // It has ended by itself, with all that it had started.
    }
    await ended;
    tellReaper(`- ${this.#group}`);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
