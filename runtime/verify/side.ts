/**
 * One of the two programs that are compared: a process, its output, the connections to its servers.
 *
 * Reads: what the process says of its servers, what the servers answer.
 * Gives: answers, output and exit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { type Answer, AnswerReader, newAnswer } from './answers.js';
import { Cookies } from './cookies.js';
import { completeHeaders, requestBytes } from './request-bytes.js';
import type { RequestToSend } from './requests-file.js';

const HELPER = fileURLToPath(new URL('../../runtime/verify/listen-anywhere.cjs', import.meta.url));

/** What Fluxion says itself: it is no output of the app. */
const SAID = /^fluxion (?:error|warn|info|debug): .*\n(?: {4}at .*\n)*/gm;

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

interface Listening {
  readonly port: number;
  readonly host: string;
  readonly secure: boolean;
}

interface Line {
  readonly socket: Socket;
  readonly reader: AnswerReader;
  isOpen: boolean;
}

export class Side {
  readonly #child: ChildProcess;
  readonly #servers: Listening[] = [];
  readonly #lines = new Map<number, Line>();
  readonly #cookies = new Cookies();
  readonly #changed: () => void;
  readonly #closed: Promise<unknown>;
  #stdout = '';
  #stderr = '';
  #sent = 0;
  #exit: Exit | null = null;
  /** When something came last. */
  lastEvent = Date.now();

  /** `changed` is called whenever something has come. */
  constructor(
    readonly name: string,
    words: readonly string[],
    cwd: string,
    changed: () => void,
  ) {
    this.#changed = changed;
    const { NODE_OPTIONS: options = '', ...env } = process.env;
    this.#child = spawn(process.execPath, words, {
      cwd,
      env: {
        ...env,
        NODE_OPTIONS: `${options} --require ${JSON.stringify(HELPER)}`.trim(),
        FLUXION_VERIFY_OPTIONS: options,
        FLUXION_VERIFY_CHANNEL: '3',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#closed = once(this.#child, 'close');
    this.#read(this.#child.stdout, (text) => void (this.#stdout += text));
    this.#read(this.#child.stderr, (text) => void (this.#stderr += text));
    this.#readServers();
    this.#child.on('exit', (code, signal) => {
      this.#exit = { code, signal };
      this.#event();
    });
  }

  #event(): void {
    this.lastEvent = Date.now();
    this.#changed();
  }

  #read(stream: Readable | null, take: (text: string) => void): void {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      take(text);
      this.#event();
    });
  }

  #readServers(): void {
    let rest = '';
    this.#read(this.#child.stdio[3] as Readable, (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      this.#servers.push(...lines.map((line): Listening => JSON.parse(line)));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get ports(): readonly number[] {
    return this.#servers.map(({ port }) => port);
  }

  get exit(): Exit | null {
    return this.#exit;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr.replace(SAID, '');
  }

  /** What Fluxion has to say. */
  get said(): string {
    return this.#stderr.match(SAID)?.join('') ?? '';
  }

  send(request: RequestToSend): Answer {
    const answer = newAnswer();
    const server = this.#servers[request.server];
    this.#sent++;
    if (server === undefined) {
      answer.state = 'refused';
      return answer;
    }
    const line = this.#line(request, server);
    line.reader.expect(request.method, answer);
    line.socket.write(requestBytes(request, this.#cookies.mine(completeHeaders(request))));
    return answer;
  }

  /** What the recorded client was given under these names is what this one was given. */
  answered({ setCookies }: RequestToSend, answer: Answer): void {
    this.#cookies.learn(setCookies, answer.headers);
  }

  #line({ connection }: RequestToSend, { port, host, secure }: Listening): Line {
    const known = connection === undefined ? undefined : this.#lines.get(connection);
    if (known?.isOpen) return known;
    const to = { port, host };
    const socket = secure ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
    const line: Line = { socket, reader: new AnswerReader(() => this.#sent), isOpen: true };
    this.#lines.set(connection ?? -this.#sent, line);
    socket.on('data', (bytes: Buffer) => {
      line.reader.take(bytes);
      this.#event();
    });
    // Told apart by what came before it.
    socket.on('error', () => {});
    socket.on('end', () => void (line.isOpen = false));
    socket.on('close', () => {
      line.isOpen = false;
      line.reader.closed();
      this.#event();
    });
    return line;
  }

  closeConnections(): void {
    for (const { socket } of this.#lines.values()) socket.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#exit === null) this.#child.kill(signal);
  }

  /** All of its output has come then. */
  async gone(): Promise<void> {
    await this.#closed;
  }
}
