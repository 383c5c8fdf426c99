import test from 'ava';
import { apiApp, apiRequests } from './support/express-api-app.js';
import { exchangeBytes, masked } from './support/raw-client.js';
import { ServedApp, type ServeOptions } from './support/served-app.js';

// What Express and Node let a handler do, by node, across the bridge on one loop, and on a replica: the same bytes and the same
// output. Each placement has its own process; a request is sent when the one before has been answered.

const LOOPBACK: ServeOptions = { flags: ['--placement', 'loopback'] };
const EAGER: ServeOptions = { flags: ['--placement', 'eager', '--threads', '1'], replicas: 1 };

for (const version of [3, 4, 5] as const) {
  test.serial(`Express ${version}, across the bridge and on a replica: the same answers and output`, async (t) => {
    const [plain, ...bridged] = await Promise.all([
      ServedApp.serve(t, apiApp(version), { flags: null }),
      ServedApp.serve(t, apiApp(version), LOOPBACK),
      ServedApp.serve(t, apiApp(version), EAGER),
    ]);
    for (const request of apiRequests(version)) {
      const [before, ...after] = await Promise.all(
        [plain, ...bridged].map(async (app) => unfolded(await exchangeBytes(app.port, request), app)),
      );
      t.deepEqual(after, [before, before], request.slice(0, 300));
    }
    const said = (app: ServedApp): string[] =>
      unfolded(app.stdout, app)
        .replace(/^port .*$/m, '')
        .split('\n')
        .sort();
    for (const app of bridged) {
      await app.until(() => app.stdout.length >= plain.stdout.length);
      t.deepEqual(said(app), said(plain));
    }
  });
}

/**
 * Without the folder, of which each process has its own, what clocks and files' times say, and the line on which an emitter
 * calls one listener or several: with a report there is one more.
 */
function unfolded(text: string, { folder }: ServedApp): string {
  return masked(text)
    .replaceAll(folder, '')
    .replace(/^(Set-Cookie: .*Expires=)(?!Thu, 01 Jan 1970)[^;]*/gm, '$1-')
    .replace(/^(ETag: W\/"[\da-f]+-)[\da-f]{10,}"/gm, '$1-"')
    .replace(/^Last-Modified: .*$/gm, 'Last-Modified: -')
    .replace(/Server.emit \(node:events:\d+:\d+\)/g, 'Server.emit (node:events)');
}
