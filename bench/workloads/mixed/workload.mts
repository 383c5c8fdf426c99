import { known, type Workload } from '../../support/workload.js';
import { USERS } from '../light/workload.mjs';
import { PRIMES } from '../primes/workload.mjs';

export const mixed: Workload = {
  name: 'mixed',
  title: 'light and heavy mixed',
  streams: [
    { name: 'light', connections: 16, begin: known(USERS) },
    { name: 'heavy', connections: 16, begin: known(PRIMES) },
  ],
  first: '/users/1',
};
