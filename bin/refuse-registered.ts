/** For `fluxion/register`, which cannot wait for an ES module: one word, what is wrong, as JSON. */
import process from 'node:process';
import { refuse } from './refuse.js';

refuse(JSON.parse(process.argv[2] ?? ''));
