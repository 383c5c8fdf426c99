/** All workloads, in the order in which they are measured and shown. */
import type { Workload } from './support/workload.js';
import { counter } from './workloads/counter/workload.mjs';
import { crud } from './workloads/crud/workload.mjs';
import { keyed } from './workloads/keyed/workload.mjs';
import { light } from './workloads/light/workload.mjs';
import { mixed } from './workloads/mixed/workload.mjs';
import { pipeline } from './workloads/pipeline/workload.mjs';
import { primes } from './workloads/primes/workload.mjs';
import { render } from './workloads/render/workload.mjs';
import { startup } from './workloads/startup/workload.mjs';
import { upload } from './workloads/upload/workload.mjs';

export const WORKLOADS: readonly Workload[] = [
  light,
  primes,
  mixed,
  counter,
  keyed,
  crud,
  pipeline,
  upload,
  render,
  startup,
];
