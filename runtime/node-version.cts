/** Reads: which Node this is. Gives: why Fluxion cannot work in it, or `--placement loopback` cannot. */
import process = require('node:process');

import type { Problem } from './types.js' with { 'resolution-mode': 'import' };

const OLDEST = { major: 20, minor: 19 };

function tooOld(version: string = process.versions.node): Problem | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
  return isEnough ? null : { kind: 'old-node', version };
}

/** The bridge is ES modules, which have to be there before the app's first line. */
function withoutLoopback(): Problem | null {
  if (process.features.require_module) return null;
  const message = `"loopback" takes a Node that can require ES modules, and this is ${process.version}`;
  const lift = 'use 20.19, 22.12 or a newer one, without --no-experimental-require-module';
  return { kind: 'bad-value', flag: '--placement', message, lift };
}

export = { tooOld, withoutLoopback };
