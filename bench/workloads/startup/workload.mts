import type { Workload } from '../../support/workload.js';

/** No load: measured is how long it takes to the first answer, and how much memory that takes. */
export const startup: Workload = {
  name: 'startup',
  title: 'start-up to first answer',
  streams: [],
  first: '/',
};
