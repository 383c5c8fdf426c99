/** The HTTP bridge: a handler runs on another loop than the one that holds its request's socket. */
export { CannotTravel } from '../codec.js';
export { HomeExchange, type HomeSide, type Outcome } from './home-exchange.js';
export type { Envelope, ExchangeId, Step, ToHome, ToReplica } from './messages.js';
export type { AppNames } from './names.js';
export { recordResponses } from './record-response.js';
export { type Lateness, openExchange, type ReplicaExchange, type ReplicaSide } from './replica-exchange.js';
export { runAtHome } from './run-at-home.js';
export { Below, mendStack } from './stack.js';
