/**
 * Runs a program as home and in a replica behind the firewall (`firewall-home.cts`), and counts what the outside sees.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { type Tree, tempFolder } from './temp-folder.js';

export interface Report {
  readonly home: Seen;
  readonly replica: Seen;
  /** `done`, `waits`, or `threw …` */
  readonly evaluated: string;
  readonly servers: readonly { readonly address: unknown; readonly at: string; readonly says: unknown }[];
  readonly blocked: readonly {
    readonly what: string;
    readonly at: string | null;
    readonly package: string | null;
    readonly repeatable: boolean;
  }[];
  readonly misses: readonly { readonly what: string; readonly at: string | null; readonly answer: string }[];
  readonly effects: readonly string[];
  readonly output: readonly string[];
  readonly result: unknown;
  readonly gaveUp?: string;
  readonly error?: string;
  readonly exited?: unknown;
}

export type Seen = { readonly [name: string]: unknown };

export interface Run {
  readonly report: Report;
  readonly stdout: string;
  readonly stderr: string;
  readonly folder: string;
  readonly read: (file: string) => string | null;
}

const starter = fileURLToPath(new URL('./firewall-home.cjs', import.meta.url));

/** Node 24 as the tests' own package installs it. */
export const node24 = fileURLToPath(new URL('../../../test/node-24/node_modules/node/bin/node', import.meta.url));

export interface RunOptions {
  readonly node?: string;
  readonly env?: { readonly [name: string]: string };
}

/** The program is `entry` of the tree; it calls `globalThis.started()` when it serves. */
export async function runStartup(
  t: ExecutionContext,
  entry: string,
  tree: Tree,
  options: RunOptions = {},
): Promise<Run> {
  const folder = tempFolder(t, tree);
  const report = join(folder, 'report.json');
  const child = spawn(options.node ?? process.execPath, [starter, entry, 'an argument'], {
    cwd: folder,
    env: { ...process.env, ...options.env, FIREWALL_REPORT: report, NODE_OPTIONS: '' },
    timeout: 60_000,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  await once(child, 'close');
  const read = (file: string): string | null =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : null;
  const text = read('report.json');
  if (text === null) throw new Error(`no report\n${stdout}\n${stderr}`);
  return { report: JSON.parse(text), stdout, stderr, folder, read };
}

/** A service that says nothing, or what it is told to, and remembers what it heard on each connection. */
export interface Service {
  readonly port: string;
  readonly heard: readonly string[];
}

interface TcpService extends Service {
  /** When all that was said by clients which have ended is heard. */
  readonly settled: () => Promise<void>;
}

export async function tcpService(t: ExecutionContext, reply = ''): Promise<TcpService> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  let last: Socket | null = null;
  const isOver = (socket: Socket): boolean => socket.readableEnded || socket.destroyed;
  const server: Server = createServer((socket) => {
    if (socket.remotePort === last?.localPort) return void socket.destroy();
    sockets.add(socket);
    const index = heard.push('') - 1;
    socket.on('data', (chunk) => {
      heard[index] += String(chunk);
      if (reply !== '') socket.end(reply);
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const settled = async (): Promise<void> => {
    // Connections are accepted in the order in which they came.
    last = connect(port, '127.0.0.1').resume();
    await once(last, 'close');
    for (const socket of sockets) if (!isOver(socket)) await once(socket, 'close');
  };
  return { port: String(port), heard, settled };
}

export async function udpService(t: ExecutionContext): Promise<Service> {
  const heard: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message) => heard.push(String(message)));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  return { port: String(socket.address().port), heard };
}
