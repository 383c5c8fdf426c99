/** `node cluster.js app.js`: the app as it is, in as many processes as there are cores. */
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import process from 'node:process';

const [, , app = ''] = process.argv;
cluster.setupPrimary({ exec: app, args: [] });
for (let count = 0; count < availableParallelism(); count++) cluster.fork();
