import { get, known, type Workload } from '../../support/workload.js';

/** 15 to 20 ms of computing. */
export const PRIMES = [[get('/primes/300000'), '{"limit":300000,"primes":25997}'] as const];

export const primes: Workload = {
  name: 'primes',
  title: 'CPU-heavy, stateless',
  streams: [{ name: 'all', connections: 16, begin: known(PRIMES) }],
  first: '/primes/10',
};
