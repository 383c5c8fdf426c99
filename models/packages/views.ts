/** What apps render their views by, where the package is more than a template language: layouts, partials, helpers. */
import type { Members } from '../build.js';
import {
  callbackOrPromise,
  calls,
  chained,
  configures,
  constants,
  each,
  mutating,
  post,
  promising,
  pure,
  values,
  withDefault,
} from '../build.js';
import type { Call, PackageModel, TypeModel } from '../types.js';

const does = ['files'] as const;

/** What is given to `app.engine()`. It remembers which files it has read; helpers and data that its maker was given it holds. */
export const viewEngine: TypeModel = {
  members: {},
  call: { returns: 'fresh', promiseWithoutCallback: true, does, ruptures: [post('last', ['fresh', 'fresh'])] },
};

const makes = (name: string): Call => ({ returns: name, keeps: [-1], connects: true });

const expressHandlebars = {
  name: 'express-handlebars',
  renders: true,
  module: withDefault({
    call: makes('express-handlebars.Engine'),
    members: {
      ...each('engine', { call: makes('express-handlebars.Engine') }),
      ...each('create', { call: makes('express-handlebars.ExpressHandlebars') }),
      ...each('ExpressHandlebars', { construct: makes('express-handlebars.ExpressHandlebars') }),
    },
  }),
  types: {
    Engine: viewEngine,
    ExpressHandlebars: {
      identity: true,
      members: {
        engine: { is: 'express-handlebars.Engine' },
        handlebars: { is: 'handlebars.Environment' },
        ...callbackOrPromise('renderView', { does }, ['fresh', 'fresh']),
        ...promising('render', { does }),
        // Templates among them are those that it keeps.
        ...promising('getPartials getTemplate getTemplates', { does, returns: 'unknown' }),
        ...mutating('resetCache'),
        ...values('config helpers partials compilerOptions runtimeOptions'),
        ...constants('extname encoding defaultLayout'),
      },
    },
  },
} satisfies PackageModel;

const HBS: Members = {
  ...configures('registerHelper registerAsyncHelper registerPartial'),
  // What is rendered waits for the folder to be read.
  ...each('registerPartials', {
    call: {
      returns: 'fresh',
      mutates: ['this'],
      keeps: [-1],
      does,
      stateful: true,
      finishesLater: true,
      ruptures: [post('last', [])],
    },
  }),
  localsAsTemplateData: { call: { returns: 'fresh', mutates: ['this', 0], stateful: true } },
  __express: { is: 'hbs.Engine' },
  handlebars: { is: 'handlebars.Environment' },
  ...pure('compile', 'unknown'),
  ...values('cache SafeString Utils'),
};

const hbs = {
  name: 'hbs',
  renders: true,
  module: { members: { ...HBS, create: { call: { returns: 'hbs.Instance', keeps: [-1], connects: true } } } },
  types: { Engine: viewEngine, Instance: { identity: true, members: HBS } },
} satisfies PackageModel;

const mustacheExpress = {
  name: 'mustache-express',
  renders: true,
  module: { call: makes('mustache-express.Engine') },
  types: { Engine: { ...viewEngine, identity: true, members: values('cache') } },
} satisfies PackageModel;

/** A middleware's functions for templates (`layout`, `block`) are made anew for each view. */
const ejsMate = {
  name: 'ejs-mate',
  renders: true,
  module: { ...viewEngine, members: values('compile') },
} satisfies PackageModel;

/** It makes functions of texts, one for each view, in the same way each time. */
const es6 = {
  name: 'express-es6-template-engine',
  renders: true,
  module: withDefault({ call: { ...viewEngine.call, returns: 'fresh' } }),
} satisfies PackageModel;

const EDGE: Members = {
  ...promising('render renderRaw', { does }),
  ...calls('renderSync renderRawSync', { does }),
  ...chained('global mount unmount use registerTag registerTemplate removeTemplate registerBlock', { does }),
  createRenderer: { call: { returns: 'unknown' } },
  ...values('loader compiler globals processor'),
};

const edge = {
  name: 'edge.js',
  renders: true,
  module: {
    members: {
      Edge: { construct: makes('edge.js.Edge'), members: { create: { call: makes('edge.js.Edge') } } },
      default: { is: 'edge.js.Edge' },
    },
  },
  types: { Edge: { identity: true, members: EDGE } },
} satisfies PackageModel;

export const viewModels: readonly PackageModel[] = [expressHandlebars, hbs, mustacheExpress, ejsMate, es6, edge];
