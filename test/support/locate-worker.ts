/** Locates functions in a thread of its own: by what another one has found, as far as that goes. Says where they are, and how often V8 was asked. */
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { expectSigns, Reflector, type Signs } from '../../runtime/link/reflect.js';

export interface Located {
  readonly places: ReturnType<Reflector['locate']>;
  readonly asked: number;
}

interface Task {
  readonly files: readonly string[];
  readonly signs: Signs;
}

const { files, signs }: Task = workerData;
const require = createRequire(import.meta.url);
const sessions: object = Session.prototype;
const post: (...args: unknown[]) => unknown = Reflect.get(sessions, 'post');
let asked = 0;
Reflect.set(sessions, 'post', function (this: Session, ...args: unknown[]) {
  if (args[0] === 'Debugger.enable') asked++;
  return Reflect.apply(post, this, args);
});
expectSigns(signs);
const reflector = new Reflector();
const places = reflector.locate(files.map((file) => require(file)));
reflector.close();
const located: Located = { places, asked };
parentPort?.postMessage(located);
