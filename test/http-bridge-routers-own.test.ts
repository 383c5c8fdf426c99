import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { isRoutersOwn } from '../runtime/http-bridge/routers-own.js';
import { tempFolder } from './support/temp-folder.js';

const NAME = 'router.tracing.matchedRoute';
const ERRORS = 'router.tracing.publishedErrors';

// The symbol by which newer routers of Express 5 note on a request where it is.

test("a symbol is the router's own if its file exports it, whatever others are called", (t) => {
  const text = `exports.matchedRoute = Symbol('${NAME}');\n`;
  const folder = tempFolder(t, {
    'node_modules/router/lib/symbols.js': text,
    'lib/symbols.js': text,
  });
  const load = createRequire(join(folder, 'app.js'));
  const ofRouter: { readonly matchedRoute: symbol } = load('router/lib/symbols.js');
  const ofApp: { readonly matchedRoute: symbol } = load('./lib/symbols.js');
  t.true(isRoutersOwn(ofRouter.matchedRoute));
  t.false(isRoutersOwn(ofApp.matchedRoute));
  t.true(isRoutersOwn(Symbol.for(ERRORS)));
  t.false(isRoutersOwn(Symbol(NAME)));
  t.false(isRoutersOwn(Symbol(ERRORS)));
  t.false(isRoutersOwn(Symbol('another')));
});
