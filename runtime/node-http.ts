/**
 * Gives: the classes of `node:http`. An `import` of it would make Node read each property of that module, `WebSocket` as well, which loads
 * all of undici: 20 ms and several megabytes for each loop on Node 22 and 24.
 */
import type http from 'node:http';
import process from 'node:process';

const own = process.getBuiltinModule('node:http');

export const { createServer, IncomingMessage, OutgoingMessage, ServerResponse } = own;
export type IncomingMessage = http.IncomingMessage;
export type OutgoingMessage = http.OutgoingMessage;
export type ServerResponse = http.ServerResponse;
