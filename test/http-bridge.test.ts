import type { RequestListener } from 'node:http';
import test from 'ava';
import { bridge, serve } from './support/bridged-app.js';
import { load } from './support/express-types.js';
import { exchangeBytes, get, masked } from './support/raw-client.js';

test('a plain listener answers the same bytes', async (t) => {
  const make = (): RequestListener => (req, res) => {
    res.writeHead(200, 'Fine', ['X-Order', '2', 'x-order', '1', 'Content-Type', 'text/plain']);
    res.write('hello ');
    res.end(req.url);
  };
  const plain = await serve(make());
  const bridged = await bridge(make, { plain: true });
  t.teardown(() => bridged.close());
  t.teardown(() => plain.server.close());
  const request = get('/some?x=1');
  t.is(masked(await exchangeBytes(bridged.port, request)), masked(await exchangeBytes(plain.port, request)));
  t.deepEqual(bridged.ran, ['listener']);
});

for (const version of [3, 4, 5] as const) {
  const make = (): RequestListener => {
    const app = load(version)();
    app.get('/send', (_req, res) => res.send('hello'));
    app.get('/json', (req, res) => res.json({ ok: true, query: req.query, ip: req.ip }));
    app.get('/user/:id', (req, res) => res.send(req.params.id));
    app.get('/throws', () => {
      throw new Error('no luck');
    });
    app.get('/next', (_req, _res, next) => next());
    app.get('/next', (_req, res) => res.send('after'));
    return app;
  };
  test(`Express ${version}`, async (t) => {
    const plain = await serve(make());
    const bridged = await bridge(make, { express: version });
    t.teardown(() => bridged.close());
    t.teardown(() => plain.server.close());
    const paths = ['/send', '/json?a=1&b=2', '/user/7', '/throws', '/next', '/none'];
    for (const request of paths.map((path) => get(path))) {
      t.is(masked(await exchangeBytes(bridged.port, request)), masked(await exchangeBytes(plain.port, request)));
    }
    t.is(bridged.ran.length, 6);
  });
}
