/**
 * A server that keeps values, and a package `ioredis` of our own that speaks with it in lines of JSON: the client has the same places
 * inside as the real one, which are what the firewall goes by.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';
import type { Tree } from './temp-folder.js';

export class FakeRedis {
  readonly values = new Map<string, unknown>();
  readonly asked: string[] = [];
  /** Beyond that connections are refused. */
  mostConnections = Number.POSITIVE_INFINITY;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));
  accepted = 0;

  static async start(t: ExecutionContext): Promise<FakeRedis> {
    const redis = new FakeRedis();
    redis.#server.listen(0, '127.0.0.1');
    await once(redis.#server, 'listening');
    t.teardown(() => {
      redis.drop();
      redis.#server.close();
    });
    return redis;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** So many clients have asked for a connection, ever. */
  async hasAccepted(count: number): Promise<void> {
    while (this.accepted < count) await once(this.#server, 'connection');
  }

  /** All connections end. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.accepted += 1;
    if (this.accepted > this.mostConnections) return void socket.destroy();
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    createInterface({ input: socket }).on('line', (line) => {
      const [name, ...args]: [string, ...string[]] = JSON.parse(line);
      this.asked.push(name);
      socket.write(`${JSON.stringify(this.#answer(name, args))}\n`);
    });
  }

  #answer(name: string, [key = '', value]: readonly string[]): unknown {
    if (name === 'set') this.values.set(key, value);
    else if (name === 'incr') this.values.set(key, Number(this.values.get(key) ?? 0) + 1);
    else if (name === 'info') return 'ready';
    return this.values.get(key) ?? null;
  }
}

const CLIENT = `'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
const { EventEmitter } = require('node:events');
const net = require('node:net');
const readline = require('node:readline');

class Redis extends EventEmitter {
  constructor(port, { lazyConnect = false } = {}) {
    super();
    Object.assign(this, { port, status: 'wait', waiting: [], queue: [] });
    if (!lazyConnect) this.connect().catch(() => {});
  }
  connect() {
    this.status = 'connecting';
    return new Promise((resolve, reject) => {
      this.stream = net.createConnection(this.port, '127.0.0.1', () => {
        this.status = 'connect';
        this.info().then(() => {
          this.status = 'ready';
          for (const command of this.queue.splice(0)) this.sendCommand(command);
          this.emit('ready');
          resolve();
        });
      });
      this.stream.on('error', () => {}).once('close', () => {
        const wasReady = this.status === 'ready';
        this.status = 'close';
        this.emit('close');
        if (wasReady) this.connect().catch(() => {});
        else reject(new Error('refused'));
      });
      readline.createInterface({ input: this.stream }).on('line', (line) => this.waiting.shift()(JSON.parse(line)));
    });
  }
  sendCommand(command) {
    if (this.status === 'ready' || command.name === 'info') {
      this.waiting.push(command.resolve);
      this.stream.write(JSON.stringify([command.name, ...command.args]) + '\\n');
    } else this.queue.push(command);
    return command.promise;
  }
}
for (const name of ['get', 'set', 'incr', 'info']) {
  Redis.prototype[name] = function (...args) {
    const command = { name, args };
    command.promise = new Promise((resolve) => (command.resolve = resolve));
    return this.sendCommand(command);
  };
}
exports.default = Redis;
`;

const folder = 'vendor/node_modules/ioredis';

/** As \`require('./vendor')\`. */
export const IOREDIS: Tree = {
  'vendor/index.js': "module.exports = require('ioredis');",
  [`${folder}/package.json`]: '{"name":"ioredis","main":"built/index.js"}',
  [`${folder}/built/index.js`]: "exports.Redis = require('./Redis').default; require('./cluster');",
  [`${folder}/built/Redis.js`]: CLIENT,
  [`${folder}/built/cluster/index.js`]: 'exports.default = class Cluster { connect() {} sendCommand() {} };',
};

/** A version in which something is not where it is looked for. */
export const OTHER_IOREDIS: Tree = {
  ...IOREDIS,
  [`${folder}/built/index.js`]: "exports.Redis = require('./Redis').default;",
};
