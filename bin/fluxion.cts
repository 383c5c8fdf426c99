#!/usr/bin/env node
/**
 * `fluxion run` starts the app in this process, so nothing is loaded before it that it does not need: no ES module, no
 * compiler. Everything else is in main.ts.
 */
import path = require('node:path');
import process = require('node:process');

import nodeVersion = require('../runtime/node-version.cjs');

const tooOld = nodeVersion.tooOld();
if (tooOld !== null) {
  void import('./refuse.js').then(({ refuse }) => refuse(tooOld));
} else if (process.argv[2] === 'run' && process.argv[3] !== '--help' && process.argv[3] !== '-h') {
  const start: typeof import('../runtime/start.cjs') = require('../runtime/start.cjs');
  const own = { compiler: path.join(__dirname, 'bundle/prepare.js'), starter: __filename };
  const problem = start.run(process.argv.slice(3), own);
  if (problem !== null) void import('./refuse.js').then(({ refuse }) => refuse(problem));
} else {
  // As build.ts names it.
  const bundled = './bundle/main.js';
  void import(bundled);
}
