import { known, send, type Workload } from '../../support/workload.js';

const items = Array.from({ length: 12_000 }, (_, number) => ({
  id: number,
  name: `item ${number}, from the list of what was ordered`,
  price: number % 97,
  count: number % 5,
}));
const total = items.reduce((sum, { price, count }) => sum + price * count, 0);

/** About 1 MB. */
const REQUEST = send('POST', '/orders', JSON.stringify({ items }));

export const upload: Workload = {
  name: 'upload',
  title: '1 MB JSON upload',
  streams: [{ name: 'all', connections: 8, begin: known([[REQUEST, JSON.stringify({ items: items.length, total })]]) }],
  first: '/',
};
