/**
 * Reads: what a replica has printed.
 * Gives: the same on the process's own output, in the order in which it came.
 *
 * What was written to a stream goes to that stream. What was written by its descriptor, as loggers do, fails for nobody but its writer, who has
 * been told by then that all is well: an output that nobody reads any more is no reason to end, as an error of the stream would be.
 */
import { writeSync } from 'node:fs';
import process from './node-process.cjs';

/** As long as a stream keeps back what it was given, all else goes behind that. */
const keepsBack = { 1: false, 2: false };

export function printThere(fd: 1 | 2, chunk: Uint8Array, byDescriptor: boolean): void {
  const rest = byDescriptor && !isKeptBack(fd) ? writeNow(fd, chunk) : chunk;
  if (rest.length === 0) return;
  keepsBack[fd] = true;
  streamOf(fd).write(rest);
}

/** A stream is not asked for where nobody has used it: Node would make it then. */
function isKeptBack(fd: 1 | 2): boolean {
  if (keepsBack[fd]) keepsBack[fd] = streamOf(fd).writableLength > 0;
  return keepsBack[fd];
}

function streamOf(fd: 1 | 2): NodeJS.WriteStream {
  return fd === 1 ? process.stdout : process.stderr;
}

/** What is left to be written: a pipe may be full. */
function writeNow(fd: 1 | 2, chunk: Uint8Array): Uint8Array {
  try {
    return chunk.subarray(writeSync(fd, chunk));
  } catch (error) {
    return Reflect.get(Object(error), 'code') === 'EAGAIN' ? chunk : new Uint8Array();
  }
}
