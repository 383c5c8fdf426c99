import { Counts, parsed, type Session, send, type Workload } from '../../support/workload.js';

export const SEALS: readonly (readonly [item: string, sealed: number])[] = [
  ['lamp', 908134597],
  ['rug', 3091671317],
];

function begin(): Session {
  const counts = new Counts();
  const tickets = SEALS.map(([name, sealed]) => [send('POST', `/tickets/${name}`), sealed] as const);
  return {
    client: (index) => {
      const [request, expected] = tickets[index % tickets.length]!;
      return {
        next: () => request,
        check: (reply) => {
          const { sealed, count } = parsed(reply);
          return reply.status === 200 && sealed === expected && counts.take(count);
        },
      };
    },
    wrong: (lost) => Math.max(0, counts.missing - lost),
  };
}

export const counter: Workload = {
  name: 'counter',
  title: 'exact counter behind 2 ms of CPU',
  streams: [{ name: 'all', connections: 16, begin }],
  first: '/tickets',
};
