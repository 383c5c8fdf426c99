/**
 * Preloaded into both programs that `fluxion verify` compares: each listens on a port that is free, in place of the one that
 * it asks for, and says so on the descriptor that it was given. What the program sees of its address is what it asked for.
 */
import fs = require('node:fs');
import http = require('node:http');
import https = require('node:https');
import net = require('node:net');
import process = require('node:process');
import threads = require('node:worker_threads');

interface Name {
  port?: number;
  address?: string;
}

interface Handle {
  getsockname?: (out: Name) => unknown;
}

const channel = process.env.FLUXION_VERIFY_CHANNEL;
if (threads.isMainThread && channel !== undefined) {
  restoreEnv();
  listenAnywhere(Number(channel));
  delete require.cache[__filename];
}

/** The program and its children have the environment that they would have. */
function restoreEnv(): void {
  const options = process.env.FLUXION_VERIFY_OPTIONS ?? '';
  delete process.env.FLUXION_VERIFY_CHANNEL;
  delete process.env.FLUXION_VERIFY_OPTIONS;
  if (options === '') delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = options;
}

function listenAnywhere(fd: number): void {
  const prototype: object = net.Server.prototype;
  const listen: unknown = Reflect.get(prototype, '_listen2');
  if (typeof listen !== 'function') return;
  Reflect.set(prototype, '_listen2', function (this: net.Server, address: unknown, port: unknown, ...rest: unknown[]) {
    const isMoved = typeof port === 'number' && port > 0;
    const result: unknown = Reflect.apply(listen, this, [address, isMoved ? 0 : port, ...rest]);
    const isWeb = this instanceof http.Server || this instanceof https.Server;
    const handle: Handle | null = Reflect.get(this, '_handle');
    if (isWeb && handle !== null) say(fd, this, handle);
    if (isMoved && handle !== null) pretend(handle, port);
    return result;
  });
}

function say(fd: number, server: net.Server, handle: Handle): void {
  const { port = 0, address = '' } = nameOf(handle);
  const host = address === '' || address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address;
  fs.writeSync(fd, `${JSON.stringify({ port, host, secure: server instanceof https.Server })}\n`);
}

function nameOf(handle: Handle): Name {
  const name: Name = {};
  handle.getsockname?.(name);
  return name;
}

function pretend(handle: Handle, port: number): void {
  const { getsockname } = handle;
  if (getsockname === undefined) return;
  handle.getsockname = (out) => {
    const result = Reflect.apply(getsockname, handle, [out]);
    out.port = port;
    return result;
  };
}
