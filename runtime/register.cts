/**
 * `node --import fluxion/register app.js`, or --require, or either in NODE_OPTIONS: for apps that other programs start. It
 * is configured by environment variables. In threads it does nothing: those are the app's own, or replicas, which
 * inherit Node's arguments.
 */
import childProcess = require('node:child_process');
import path = require('node:path');
import process = require('node:process');
import threads = require('node:worker_threads');

if (threads.isMainThread) register();

function register(): void {
  const start: typeof import('./start.cjs') = require('./start.cjs');
  const bin = path.join(__dirname, '../bin');
  const problem = start.register({ compiler: path.join(bin, 'bundle/prepare.js'), starter: __filename });
  if (problem === null) return;
  // Node begins with the app as soon as this returns; what prints messages is an ES module, which takes longer.
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const words = [path.join(bin, 'refuse-registered.js'), JSON.stringify(problem)];
  childProcess.spawnSync(process.execPath, words, { stdio: 'inherit', env });
  process.exit(2);
}
