import test, { type ExecutionContext } from 'ava';
import { ServedApp } from './support/served-app.js';

// Middleware of packages, on threads that take connections: what it was given decides.

const BEGIN = "const express = require('express4');\nconst app = express();\napp.use(express.json());\n";
const END = `
app.get('/', (req, res) => { res.send('ok'); });
const server = app.listen(0, () => console.log('port ' + server.address().port));
`;

/** What has to run on the main thread; null where that is so of all requests. */
async function mains(t: ExecutionContext, text: string, files = {}): Promise<readonly string[] | null> {
  const flags = ['--accept', 'every', '--threads', '1'];
  const tree = { ...files, 'app.js': BEGIN + text + END };
  const app = await ServedApp.serve(t, tree, { flags, replicas: 1 });
  await app.until(() => /accepts connections|cannot serve|accepts alone/.test(app.stderr));
  const { accept } = await app.report();
  const [server] = accept;
  return server?.alone === null ? server.main : null;
}

const VALIDATOR = "const { body, checkSchema, oneOf, validationResult } = require('express-validator');\n";
const ANSWER = '(req, res) => { res.json(validationResult(req).array()); }';
const GRAPHQL = `const { createHandler } = require('graphql-http/lib/use/express');
const { buildSchema, GraphQLSchema, GraphQLObjectType, GraphQLInt, GraphQLString } = require('graphql');
`;

const FREE: { readonly [what: string]: string } = {
  'cors with a function that looks into a list': `const cors = require('cors'); const allowed = ['http://a.example'];
    app.get('/f', cors({ origin: (origin, done) => done(null, allowed.includes(origin)) }), (req, res) => res.send('f'));
    app.get('/d', cors((req, done) => done(null, { origin: req.headers.origin === 'x' })), (req, res) => res.send('d'));`,
  'compression with a filter': `const compression = require('compression');
    app.use(compression({ filter: (req, res) => req.headers['x-no'] === undefined && compression.filter(req, res) }));`,
  'multer with functions': `const multer = require('multer');
    const storage = multer.diskStorage({ filename: (req, file, done) => done(null, 'x-' + file.originalname) });
    const upload = multer({ storage, fileFilter: (req, file, done) => done(null, file.size !== 0) });
    app.post('/f', upload.single('f'), (req, res) => res.send('f'));`,
  'helmet with a nonce': `const helmet = require('helmet'); app.use(helmet());
    app.use(helmet.contentSecurityPolicy({ directives: { scriptSrc: [(req, res) => 'nonce-' + req.headers.host] } }));`,
  'morgan by its formats, with functions that say what is logged': `const morgan = require('morgan');
    app.use(morgan('dev')); app.use(morgan(':method :url :req[x]')); morgan.format('own', ':status "said"');
    app.use(morgan('combined', { skip: (req, res) => res.statusCode < 400 }));
    app.use(morgan('own', { stream: process.stdout, immediate: true }));
    app.use(morgan((tokens, req, res) => [tokens.method(req, res), tokens.res(req, res, 'content-length')].join(' ')));`,
  'express-validator': `${VALIDATOR}
    app.post('/a', body('a').isEmail(), body('b').custom((value, { req }) => value === req.body.a), ${ANSWER});
    app.post('/b', checkSchema({ a: { in: ['body'], isInt: true, custom: { options: (value) => value > 1 } } }), ${ANSWER});
    app.post('/c', oneOf([body('a').isInt(), body('b').isInt()]), ${ANSWER});`,
  celebrate: `const { celebrate, Joi, errors } = require('celebrate');
    app.post('/a', celebrate({ body: Joi.object({ a: Joi.string() }) }), (req, res) => res.json(req.body)); app.use(errors());`,
  'express-joi-validation': `const Joi = require('joi'); const checks = require('express-joi-validation').createValidator({});
    app.post('/a', checks.body(Joi.object({ a: Joi.string() })), (req, res) => res.json(req.body));`,
  'express-jwt': `const { expressjwt } = require('express-jwt');
    app.get('/a', expressjwt({ secret: 's', algorithms: ['HS256'], getToken: (req) => req.query.t }), (req, res) => res.json(req.auth));`,
  'csrf-csrf': `const { doubleCsrf } = require('csrf-csrf'); app.use(require('cookie-parser')());
    const { doubleCsrfProtection } = doubleCsrf({ getSecret: () => 's', getSessionIdentifier: (req) => req.headers.host });
    app.post('/a', doubleCsrfProtection, (req, res) => res.send('a'));`,
  'graphql-http with a root': `${GRAPHQL} const names = ['a', 'b']; const get = (i) => ({ name: names[i % 2], next: () => get(i + 1) });
    const schema = buildSchema('type U { name: String next: U } type Query { user(id: Int!): U }');
    app.all('/graphql', createHandler({ schema, rootValue: { user: ({ id }) => get(id) } }));`,
  'graphql-http with types': `${GRAPHQL}
    const User = new GraphQLObjectType({ name: 'User', fields: () => ({ up: { type: GraphQLString, resolve: (u) => u.name + '!' } }) });
    const query = new GraphQLObjectType({ name: 'Query', fields: { user: { type: User, resolve: () => ({ name: 'a' }) } } });
    app.all('/graphql', createHandler({ schema: new GraphQLSchema({ query }), context: (req) => ({ method: req.method }) }));`,
};

for (const [what, text] of Object.entries(FREE))
  test(`runs on threads: ${what}`, async (t) => {
    t.deepEqual(await mains(t, text), []);
  });

/** Each has one slot that is the main thread's, `at` being a part of its name, or all of them are. */
const KEPT: {
  readonly [what: string]: readonly [at: RegExp, text: string, files?: { readonly [file: string]: string }];
} = {
  'morgan with a function that counts what it skips': [
    /logger/,
    `const morgan = require('morgan'); let n = 0; app.use('/x', morgan('tiny', { skip: () => ++n % 2 === 0 }));`,
  ],
  'morgan with a format that counts': [
    /logger/,
    `const morgan = require('morgan'); let n = 0; app.use('/x', morgan((tokens, req, res) => ++n + tokens.url(req, res)));`,
  ],
  'morgan with a token that counts': [
    /logger/,
    `const morgan = require('morgan'); let n = 0; morgan.token('n', () => String(++n)); app.use('/x', morgan(':n :url'));`,
  ],
  'morgan with a format that other code puts there': [
    /logger/,
    `const morgan = require('morgan'); app.post('/f', (req, res) => { morgan.format('f', req.body.f); app.use('/x', morgan('f')); res.end(); });
     app.use('/x', morgan('tiny'));`,
  ],
  'morgan to a stream of the app’s': [
    /logger/,
    `const morgan = require('morgan'); const lines = []; app.use('/x', morgan('tiny', { stream: { write: (line) => lines.push(line) } }));`,
  ],
  'morgan to a file': [
    /logger/,
    `const morgan = require('morgan'); const stream = require('fs').createWriteStream('log', { flags: 'a' });
     app.use('/x', morgan('tiny', { stream }));`,
  ],
  'morgan by text that counts': [
    /logger/,
    `const morgan = require('morgan');
     app.use('/x', morgan(new Function('tokens, req, res', 'return String(globalThis.n = (globalThis.n || 0) + 1)')));`,
  ],
  'morgan by text that calls what keeps something': [
    /logger/,
    `const morgan = require('morgan'); app.locals.list = [];
     app.use('/x', morgan(new Function('tokens, req, res', 'return "" + req.app.locals.list.push(1)')));`,
  ],
  'a list that a handler changes': [
    /corsMiddleware/,
    `const cors = require('cors'); const allowed = ['http://a.example'];
     app.post('/o', (req, res) => { allowed.push(req.body.o); res.send('o'); });
     app.get('/f', cors({ origin: allowed }), (req, res) => res.send('f'));`,
  ],
  'an option that a handler sets anew': [
    /corsMiddleware/,
    `const cors = require('cors'); const options = { origin: true };
     app.post('/o', (req, res) => { options.origin = false; res.send('o'); });
     app.get('/f', cors(options), (req, res) => res.send('f'));`,
  ],
  'options of another module that count': [
    /corsMiddleware/,
    "const cors = require('cors'); app.get('/f', cors(require('./options')), (req, res) => res.send('f'));",
    { 'options.js': 'let n = 0; module.exports = { origin: (o, done) => { n++; done(null, n % 2 === 0); } };\n' },
  ],
  'options behind a prototype': [
    /corsMiddleware/,
    `const cors = require('cors'); const make = () => { let n = 0; return { origin(o, done) { n++; done(null, n % 2 === 0); } }; };
     app.get('/f', cors(Object.create(make())), (req, res) => res.send('f'));`,
  ],
  'a function that a function gives': [
    /corsMiddleware/,
    `const cors = require('cors'); let n = 0;
     app.get('/f', cors((req, done) => done(null, { origin: (o, next) => { n++; next(null, n % 2 === 0); } })), (req, res) => res.send('f'));`,
  ],
  'a storage of the app': [
    /multerMiddleware/,
    `const multer = require('multer'); let n = 0;
     class Own { _handleFile(req, file, done) { file.stream.resume(); done(null, { size: ++n }); } _removeFile(req, file, done) { done(null); } }
     app.post('/f', multer({ storage: new Own() }).single('f'), (req, res) => res.json(req.file.size));`,
  ],
  'a middleware that a handler calls': [
    /get_f/,
    `const cors = require('cors'); let n = 0; const c = cors({ origin: (o, done) => { n++; done(null, n % 2 === 0); } });
     app.get('/f', (req, res) => { c(req, res, () => { res.send('f'); }); });`,
  ],
  'a validator that remembers': [
    /check\.js/,
    `${VALIDATOR} const seen = []; const chain = body('a').isString();
     chain.custom((value) => { if (seen.includes(value)) throw new Error('seen'); seen.push(value); return true; });
     app.post('/a', chain, ${ANSWER});`,
  ],
  'a chain that a handler goes on with': [
    /check\.js/,
    `${VALIDATOR} const chain = body('a').isString();
     app.post('/o', (req, res) => { chain.isLength({ min: 9 }); res.send('o'); });
     app.post('/a', chain, ${ANSWER});`,
  ],
  'a schema that counts': [
    /celebrate\.js/,
    `const { celebrate, Joi } = require('celebrate'); let n = 0;
     app.post('/a', celebrate({ body: Joi.object({ a: Joi.string().custom((v) => v + ++n) }) }), (req, res) => res.json(req.body));`,
  ],
  'a resolver that counts': [
    /graphql-http/,
    `${GRAPHQL} let n = 0;
     app.post('/graphql', createHandler({ schema: buildSchema('type Query { n: Int }'), rootValue: { n: () => ++n } }));`,
  ],
  'what a resolver gives that counts': [
    /graphql-http/,
    `${GRAPHQL} let n = 0; const schema = buildSchema('type O { n: Int } type Query { o: O }');
     app.post('/graphql', createHandler({ schema, rootValue: { o: async () => ({ n: () => ++n }) } }));`,
  ],
  'a resolver that is put there later': [
    /graphql-http/,
    `${GRAPHQL} let n = 0; const schema = buildSchema('type Query { n: Int }');
     schema.getQueryType().getFields().n.resolve = () => ++n; app.post('/graphql', createHandler({ schema }));`,
  ],
  'a list that a mutation grows': [
    /graphql-http/,
    `${GRAPHQL} const all = []; const schema = buildSchema('type Query { all: [String] } type Mutation { add(name: String): Int }');
     app.post('/graphql', createHandler({ schema, rootValue: { all: () => all, add: ({ name }) => all.push(name) } }));`,
  ],
};

for (const [what, [at, text, files]] of Object.entries(KEPT))
  test(`stays on the main thread: ${what}`, async (t) => {
    const found = await mains(t, text, files);
    t.true(found === null || found.some((name) => at.test(name)), String(found));
  });
