/** The ways to run an app that are compared, and the command of each for one workload. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WATT_VERSION } from './install-peers.js';
import type { Command } from './server.js';
import type { Workload } from './workload.js';

export interface Surroundings {
  /** The Node that all peers but Bun run on. */
  readonly node: string;
  /** For what peers need, and empty when the bench begins. */
  readonly folder: string;
  /** Where Watt and Bun are installed; null where they are not. */
  readonly installed: string | null;
  readonly port: number;
}

export interface Peer {
  readonly name: string;
  readonly label: string;
  /** It is not among the dependencies, and installed for the bench. */
  readonly isInstalled: boolean;
  /** Null where it does not differ from `node app.js`, or cannot be run. */
  command(workload: Workload, around: Surroundings): Command | null;
}

const here = dirname(fileURLToPath(import.meta.url));
const root = findRoot(here);
const cli = fileURLToPath(new URL('../../bin/fluxion.cjs', import.meta.url));

function findRoot(folder: string): string {
  return existsSync(join(folder, 'tsconfig.json')) ? folder : findRoot(dirname(folder));
}

export function folderOf(workload: Workload): string {
  return join(root, 'bench', 'workloads', workload.name);
}

function nodePeer(name: string, label: string, args: (folder: string) => readonly string[] | null): Peer {
  return {
    name,
    label,
    isInstalled: false,
    command: (workload, { node, folder }) => {
      const cwd = folderOf(workload);
      const found = args(cwd);
      const env = { FLUXION_CACHE: join(folder, 'cache') };
      return found === null ? null : { file: node, args: found, cwd, env };
    },
  };
}

const offloaded = (folder: string): readonly string[] | null =>
  existsSync(join(folder, 'offload.js')) ? ['offload.js'] : null;

const bun: Peer = {
  name: 'bun',
  label: 'Bun',
  isInstalled: true,
  command: (workload, { installed }) => {
    if (installed === null) return null;
    return { file: join(installed, 'node_modules', '.bin', 'bun'), args: ['app.js'], cwd: folderOf(workload), env: {} };
  },
};

const watt: Peer = {
  name: 'watt',
  label: 'Watt',
  isInstalled: true,
  command: (workload, { node, folder, installed, port }) => {
    if (installed === null) return null;
    // With all others beside it: workloads use each other's modules.
    const all = join(folder, 'watt');
    const cwd = join(all, workload.name);
    rmSync(all, { recursive: true, force: true });
    cpSync(dirname(folderOf(workload)), all, { recursive: true, filter: (file) => !file.endsWith('workload.mts') });
    linkPackages(cwd, installed);
    const about = { private: true, type: 'commonjs', dependencies: { '@platformatic/node': WATT_VERSION } };
    writeFileSync(join(cwd, 'package.json'), JSON.stringify(about));
    writeFileSync(join(cwd, 'watt.json'), JSON.stringify(wattConfig(port)));
    const start = join(installed, 'node_modules', 'wattpm', 'bin', 'cli.js');
    return { file: node, args: [start, 'start'], cwd, env: {} };
  },
};

/** As many workers as cores, and without what the other peers do not have either: a log of requests, metrics. */
function wattConfig(port: number): object {
  return {
    $schema: `https://schemas.platformatic.dev/@platformatic/node/${WATT_VERSION}.json`,
    node: { main: 'app.js' },
    runtime: {
      workers: { static: availableParallelism(), dynamic: false },
      server: { hostname: '127.0.0.1', port },
      logger: { level: 'error' },
      metrics: false,
    },
  };
}

/** Watt looks for its own packages from the app's folder, where the app's are looked for as well. */
function linkPackages(folder: string, installed: string): void {
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of ['wattpm', '@platformatic']) {
    symlinkSync(join(installed, 'node_modules', name), join(packages, name));
  }
  const own = join(root, 'node_modules');
  for (const name of readdirSync(own)) {
    if (!name.startsWith('.') && !existsSync(join(packages, name))) symlinkSync(join(own, name), join(packages, name));
  }
}

/** The first is what the others are compared with. */
export const PEERS: readonly Peer[] = [
  nodePeer('node', 'node', () => ['app.js']),
  nodePeer('cluster', 'node:cluster', () => [join(here, 'cluster.js'), 'app.js']),
  nodePeer('offload', 'offload by hand', offloaded),
  nodePeer('fluxion', 'fluxion run', () => [cli, 'run', 'app.js']),
  nodePeer('eager', 'fluxion run --placement eager', () => [cli, 'run', '--placement', 'eager', 'app.js']),
  watt,
  bun,
];
