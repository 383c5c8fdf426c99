/** What renders views, and what logs: packages that call what the app has given them, wherever they are used. */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compile } from '../compile.js';
import { tempFolder } from './support/temp-folder.js';

interface Probe {
  readonly name: string;
  readonly top: string;
  /** A render, or a line in the log. */
  readonly uses: string;
  /** What shows what was kept. */
  readonly shows?: string;
}

const rendering = "res.render('home', { name: req.query.name });";
const logging = 'logger.info(req.url); res.end();';

const free: readonly Probe[] = [
  {
    name: 'express-handlebars, from its function',
    top: "app.engine('handlebars', require('express-handlebars').engine());",
    uses: rendering,
  },
  {
    name: 'express-handlebars, made, with helpers that compute',
    top: `const hbs = require('express-handlebars').create({ extname: '.hbs', helpers: { upper: (text) => String(text).toUpperCase() } });
      app.engine('hbs', hbs.engine);`,
    uses: rendering,
  },
  {
    name: 'hbs, with helpers that compute',
    top: "const hbs = require('hbs'); hbs.registerHelper('upper', (text) => text.toUpperCase()); app.set('view engine', 'hbs');",
    uses: rendering,
  },
  {
    name: 'ejs-mate',
    top: "app.engine('ejs', require('ejs-mate'));",
    uses: rendering,
  },
  { name: 'mustache-express', top: "app.engine('mustache', require('mustache-express')());", uses: rendering },
  { name: 'nunjucks', top: "require('nunjucks').configure('views', { express: app });", uses: rendering },
  {
    name: 'liquidjs',
    top: "const { Liquid } = require('liquidjs'); app.engine('liquid', new Liquid().express());",
    uses: rendering,
  },
  {
    name: 'edge.js',
    top: "const { Edge } = require('edge.js'); const edge = Edge.create(); edge.mount('views');",
    uses: "edge.render('home', { name: req.query.name }).then((text) => res.send(text));",
  },
  { name: 'pino', top: "const logger = require('pino')({ level: 'info' });", uses: logging },
  {
    name: 'winston with a console',
    top: "const winston = require('winston'); const logger = winston.createLogger({ transports: [new winston.transports.Console()] });",
    uses: logging,
  },
];

const bound: readonly Probe[] = [
  {
    name: 'a helper of express-handlebars that counts',
    top: `let n = 0; app.engine('hbs', require('express-handlebars').engine({ helpers: { hit: () => ++n } }));`,
    uses: rendering,
    shows: 'res.json(n);',
  },
  {
    name: 'helpers of express-handlebars that are set later',
    top: `const hbs = require('express-handlebars').create(); app.engine('hbs', hbs.engine);`,
    uses: rendering,
    shows: 'hbs.helpers = { upper: () => req.query.q }; res.end();',
  },
  {
    name: 'a helper of hbs, which Express loads itself',
    top: `let n = 0; const hbs = require('hbs'); hbs.registerHelper('hit', () => ++n); app.set('view engine', 'hbs');`,
    uses: rendering,
    shows: 'res.json(n);',
  },
  {
    name: 'partials of hbs, which are read some time later',
    top: `const hbs = require('hbs'); hbs.registerPartials('partials'); app.set('view engine', 'hbs');`,
    uses: rendering,
  },
  {
    name: 'a filter of nunjucks',
    top: `let n = 0; const env = require('nunjucks').configure('views', { express: app }); env.addFilter('hit', () => ++n);`,
    uses: rendering,
    shows: 'res.json(n);',
  },
  {
    name: 'data of nunjucks',
    top: `const held = { n: 0 }; const env = require('nunjucks').configure('views', { express: app }); env.addGlobal('held', held);`,
    uses: rendering,
    shows: 'held.n += 1; res.end();',
  },
  {
    name: 'a filter of liquidjs',
    top: `let n = 0; const { Liquid } = require('liquidjs'); const engine = new Liquid(); engine.registerFilter('hit', () => ++n);
      app.engine('liquid', engine.express());`,
    uses: rendering,
    shows: 'res.json(n);',
  },
  {
    name: 'data of liquidjs',
    top: `const held = { n: 0 }; const { Liquid } = require('liquidjs'); app.engine('liquid', new Liquid({ globals: { held } }).express());`,
    uses: rendering,
    shows: 'held.n += 1; res.end();',
  },
  {
    name: 'an engine’s cache that the app changes',
    top: "const pug = require('pug'); app.set('view engine', 'pug');",
    uses: rendering,
    shows: 'pug.cache = {}; res.end();',
  },
  {
    name: 'an engine of which nothing is known',
    top: `let n = 0; const env = require('nobody').create(); env.addHelper('hit', () => ++n); app.engine('html', env.engine);`,
    uses: rendering,
    shows: 'res.json(n);',
  },
  {
    name: 'a stream that remembers the last line',
    top: `const stream = { write(line) { this.last = line; } }; const logger = require('pino')({}, stream);`,
    uses: logging,
    shows: 'res.json(stream.last);',
  },
  {
    name: 'a transport of the app’s that collects lines',
    top: `const winston = require('winston'); const Transport = require('winston-transport'); const lines = [];
      class Collecting extends Transport { log(info, done) { lines.push(info.message); done(); } }
      const logger = winston.createLogger({ transports: [new Collecting()] });`,
    uses: logging,
    shows: 'res.json(lines);',
  },
  {
    name: 'a file of winston, in a list',
    top: `const winston = require('winston');
      const logger = winston.createLogger({ transports: [new winston.transports.File({ filename: 'app.log' })] });`,
    uses: logging,
  },
  {
    name: 'a file of winston, added',
    top: `const winston = require('winston'); const logger = winston.createLogger({});
      logger.add(new winston.transports.File({ filename: 'app.log' }));`,
    uses: logging,
  },
  {
    name: 'a file that pino is given',
    top: "const logger = require('pino')({}, require('fs').createWriteStream('app.log'));",
    uses: logging,
  },
  {
    name: 'a thread that writes for pino',
    top: "const logger = require('pino')({ transport: { target: 'pino/file' } });",
    uses: logging,
  },
  {
    name: 'several streams of pino, one of them a file',
    top: `const pino = require('pino'); const file = require('fs').createWriteStream('app.log');
      const logger = pino({}, pino.multistream([{ stream: process.stdout }, { stream: file }]));`,
    uses: logging,
  },
  {
    name: 'a file of bunyan',
    top: "const logger = require('bunyan').createLogger({ name: 'x', streams: [{ path: 'app.log' }] });",
    uses: logging,
  },
];

async function placementsOf(t: ExecutionContext, { top, uses, shows }: Probe): Promise<ReadonlyMap<string, string>> {
  const app = `const express = require('express');
const app = express();
${top}
app.get('/', function using(req, res) { ${uses} });
${shows === undefined ? '' : `app.get('/shown', function showing(req, res) { ${shows} });`}
app.listen(3000);
`;
  const cwd = tempFolder(t, { 'package.json': '{}', 'app.js': app });
  const { program } = await compile({ entry: join(cwd, 'app.js'), cwd });
  return new Map(program.fluxions.map(({ id, placement }) => [id, placement]));
}

for (const probe of free) {
  test(`is free: ${probe.name}`, async (t) => {
    t.is((await placementsOf(t, probe)).get('using'), 'replicated');
  });
}

for (const probe of bound) {
  test(`stays: ${probe.name}`, async (t) => {
    const placements = await placementsOf(t, probe);
    t.not(placements.get('using'), 'replicated');
    if (probe.shows !== undefined) t.not(placements.get('showing'), 'replicated');
  });
}
