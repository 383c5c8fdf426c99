import type { ServeOptions } from './served-app.js';

/** The ways in which an app can be run; where handlers may leave home, two replicas are up before it is asked anything. */
export const PLACEMENTS: { readonly [name: string]: ServeOptions } = {
  node: { flags: null },
  home: { flags: ['--placement', 'home'] },
  loopback: { flags: ['--placement', 'loopback'] },
  eager: { flags: ['--placement', 'eager', '--threads', '2'], replicas: 2 },
  auto: { flags: ['--placement', 'auto', '--threads', '2'] },
};
