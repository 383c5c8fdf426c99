import { get, known, type Workload } from '../../support/workload.js';

/** Also what is asked beside heavy work. */
export const USERS = Array.from({ length: 50 }, (_, id) => {
  const user = { id, name: `user ${id}`, roles: ['reader', 'writer'], active: id % 2 === 0 };
  return [get(`/users/${id}`), JSON.stringify(user)] as const;
});

export const light: Workload = {
  name: 'light',
  title: 'light JSON, stateless',
  streams: [{ name: 'all', connections: 32, begin: known(USERS) }],
  first: '/users/1',
};
