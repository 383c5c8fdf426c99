import { Counts, parsed, type Session, send, type Workload } from '../../support/workload.js';
import { SEALS } from '../counter/workload.mjs';

const CARTS = 40;

/** Each client goes through all carts, so that many clients fill each of them. */
function begin(): Session {
  const carts = Array.from({ length: CARTS }, () => new Counts());
  return {
    client: (index) => {
      let at = index * 7;
      const [item, expected] = SEALS[index % SEALS.length]!;
      const requests = carts.map((_, cart) => send('POST', `/carts/cart${cart}/${item}`));
      return {
        next: () => requests[at % CARTS]!,
        check: (reply) => {
          const { sealed, count } = parsed(reply);
          return reply.status === 200 && sealed === expected && carts[at++ % CARTS]!.take(count);
        },
      };
    },
    wrong: (lost) => Math.max(0, carts.reduce((sum, { missing }) => sum + missing, 0) - lost),
  };
}

export const keyed: Workload = {
  name: 'keyed',
  title: 'state per key behind 2 ms of CPU',
  streams: [{ name: 'all', connections: 16, begin }],
  first: '/',
};
