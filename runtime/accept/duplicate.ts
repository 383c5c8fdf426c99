/**
 * Gives: further descriptors of a listening socket, so that other loops of this process can accept from its queue. A thread
 *        that ends closes what it has, so each needs one of its own.
 *
 * Node has no call for that; but what is sent to another process and comes back is another descriptor of the same thing.
 */
import { spawn } from 'node:child_process';
import process from 'node:process';

/** Sends back what it is given, as often as it is told. */
const ECHO = `process.once('message', (count, handle) => {
  const next = () => count-- > 0 ? process.send('', handle, { keepOpen: true }, next) : process.disconnect();
  next();
});`;

const LONGEST_MS = 10_000;

/** Closed by the thread that has it; closed here, it might be another one's by then. */
const kept: unknown[] = [];

export async function duplicate(handle: object, count: number): Promise<readonly number[]> {
  const child = spawn(process.execPath, ['-e', ECHO], { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  child.unref();
  child.channel?.unref();
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  timer.unref();
  const found: number[] = [];
  return new Promise((resolve) => {
    child.on('message', (_message, given) => {
      kept.push(given);
      const fd: unknown = Reflect.get(Object(given), 'fd');
      if (typeof fd === 'number' && fd > 2) found.push(fd);
    });
    child.on('error', () => {});
    child.on('close', () => {
      clearTimeout(timer);
      resolve(found);
    });
    // The raw handle: a server would begin to listen where it arrives.
    child.send(count, handle as never, { keepOpen: true }, (error) => {
      if (error) child.kill('SIGKILL');
    });
  });
}
