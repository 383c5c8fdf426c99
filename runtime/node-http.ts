/**
 * Gives: `node:http` and its classes. An `import` of it would make Node read each property of that module, `WebSocket` as well, which loads
 * all of undici: 20 ms and several megabytes for each loop on Node 22 and 24.
 */
import type nodeHttp from 'node:http';
import builtin from './builtin.cjs';

export const http = builtin.getBuiltin<typeof nodeHttp>('node:http');

export const { createServer, IncomingMessage, OutgoingMessage, ServerResponse } = http;
export type IncomingMessage = nodeHttp.IncomingMessage;
export type OutgoingMessage = nodeHttp.OutgoingMessage;
export type ServerResponse = nodeHttp.ServerResponse;
