/** Template engines. What a template's own code does is not in the app's source; it gets the data that is given. */
import { callbackLast, callbackOrPromise, calls, chained, configures, each, pure, values } from '../build.js';
import type { Call, PackageModel } from '../types.js';

const does = ['files'] as const;
const rendered: Call = { returns: 'fresh', does };

export const ejs = {
  name: 'ejs',
  renders: true,
  module: {
    members: {
      render: { call: rendered },
      ...callbackOrPromise('renderFile __express', { does }),
      compile: { call: { returns: 'ejs.Template', does } },
      ...pure('escapeXML resolveInclude'),
      ...configures('clearCache'),
      ...values('cache delimiter'),
    },
  },
  types: { Template: { members: {}, call: rendered } },
} satisfies PackageModel;

export const pug = {
  name: 'pug',
  renders: true,
  module: {
    members: {
      ...each('compile compileFile', { call: { returns: 'pug.Template', does } }),
      ...callbackLast('render renderFile __express', { does }),
      ...calls('compileClient compileFileClient', { does }),
      ...values('cache filters'),
    },
  },
  types: { Template: { members: {}, call: rendered } },
} satisfies PackageModel;

const HANDLEBARS = {
  ...each('compile template', { call: { returns: 'handlebars.Template' } }),
  ...pure('escapeExpression createFrame'),
  ...pure('parse', 'fresh | argument 0'),
  precompile: { call: { returns: 'fresh', mutates: [1] } },
  ...configures('registerHelper registerPartial registerDecorator unregisterHelper unregisterPartial'),
  SafeString: { construct: { returns: 'fresh' } },
  ...values('helpers partials decorators Utils'),
};

export const handlebars = {
  name: 'handlebars',
  renders: true,
  module: {
    members: { ...HANDLEBARS, create: { call: { returns: 'handlebars.Environment' } } },
  },
  types: {
    Environment: { identity: true, members: HANDLEBARS },
    Template: { members: {}, call: { returns: 'fresh' } },
  },
} satisfies PackageModel;

export const mustache = {
  name: 'mustache',
  renders: true,
  module: {
    members: {
      ...pure('render escape'),
      // It remembers what it has parsed.
      parse: { call: { returns: 'fresh', shared: true } },
      ...configures('clearCache'),
      ...values('tags'),
    },
  },
} satisfies PackageModel;

const NUNJUCKS = {
  ...callbackLast('render renderString', { does }),
};

export const nunjucks = {
  name: 'nunjucks',
  renders: true,
  module: {
    members: {
      ...NUNJUCKS,
      ...each('configure', {
        call: { returns: 'nunjucks.Environment', shared: true, mutates: ['this'], keeps: [-1] },
      }),
      ...configures('reset'),
      ...each('precompile precompileString', { call: { returns: 'fresh', mutates: [1] } }),
      Environment: { construct: { returns: 'nunjucks.Environment', keeps: [-1], connects: true } },
    },
  },
  types: {
    Environment: {
      identity: true,
      // The module renders by the one that was configured last.
      members: { ...NUNJUCKS, ...configures('addFilter addGlobal addExtension'), ...chained('express') },
    },
  },
} satisfies PackageModel;

const MARKED = {
  ...pure('parse parseInline getDefaults'),
  // They put what they need into the options.
  ...each('lexer parser', { call: { returns: 'fresh', mutates: [1] } }),
  ...configures('setOptions options use'),
};

export const marked = {
  name: 'marked',
  module: {
    call: { returns: 'fresh' },
    members: {
      ...MARKED,
      marked: { call: { returns: 'fresh' }, members: MARKED },
      Marked: { construct: { returns: 'marked.Marked', keeps: [-1] } },
    },
  },
  types: {
    Marked: {
      identity: true,
      members: { ...pure('parse parseInline'), ...chained('setOptions use') },
    },
  },
} satisfies PackageModel;

const MARKDOWN_IT: Call = { returns: 'markdown-it.MarkdownIt', keeps: [-1] };

export const markdownIt = {
  name: 'markdown-it',
  module: { call: MARKDOWN_IT, construct: MARKDOWN_IT },
  types: {
    MarkdownIt: {
      identity: true,
      members: {
        // Rules note things in what is given as the second argument, for each other.
        ...each('render renderInline parse parseInline', { call: { returns: 'fresh', mutates: [1] } }),
        ...chained('set configure enable disable'),
        ...values('options core block inline renderer linkify utils'),
      },
    },
  },
} satisfies PackageModel;
