/** Parsers, printers and compilers of code: text in, text or a tree out. */
import { callbackLast, calls, chained, constants, each, promising, pure, withDefault } from '../build.js';
import type { Call, Member, PackageModel } from '../types.js';

const one = (name: string, module: Member): PackageModel => ({ name, module });
const files: Call = { does: ['files'] };

/** Names that were made are noted in the options (`nameCache`). */
const noting: Call = { returns: 'fresh', mutates: [1] };

const BABEL_FILES = 'transformSync transformFileSync parseSync loadOptionsSync loadPartialConfigSync';

export const compilerModels: readonly PackageModel[] = [
  one('terser', { members: promising('minify', noting) }),
  one('uglify-js', { members: calls('minify', noting) }),
  one('html-minifier-terser', { members: promising('minify') }),
  one('html-minifier', { members: pure('minify') }),
  // Comments and tokens are put into lists among the options.
  one('acorn', {
    members: { ...calls('parse parseExpressionAt', { mutates: [-1] }), ...constants('version defaultOptions') },
  }),
  one('esprima', {
    members: { ...calls('parse parseScript parseModule tokenize', { mutates: [1] }), ...constants('version Syntax') },
  }),
  one('@babel/parser', { members: pure('parse parseExpression') }),
  one('@babel/generator', { members: pure('default generate') }),
  one(
    '@babel/core',
    withDefault({
      members: {
        ...calls(BABEL_FILES, files),
        ...calls('transformFromAstSync', { ...files, mutates: [0] }),
        ...promising('transformAsync transformFileAsync parseAsync loadOptionsAsync', files),
        ...promising('transformFromAstAsync', { ...files, mutates: [0] }),
        ...callbackLast('transform', files, ['fresh', 'fresh']),
        ...constants('version'),
      },
    }),
  ),
  {
    name: 'clean-css',
    module: { construct: { returns: 'clean-css.Minifier', keeps: [-1] } },
    types: {
      Minifier: { identity: true, members: callbackLast('minify', { does: ['files', 'network'] }, ['fresh', 'fresh']) },
    },
  },
  {
    name: 'postcss',
    module: withDefault({
      call: { returns: 'postcss.Processor', keeps: [-1] },
      members: pure('parse', 'postcss.Tree'),
    }),
    types: {
      Processor: {
        identity: true,
        members: {
          process: { call: { returns: 'postcss.Result' } },
          ...chained('use'),
        },
      },
      Result: {
        extends: 'Promise',
        resolves: 'postcss.Result',
        members: { ...constants('css map content'), ...pure('toString warnings'), root: { is: 'postcss.Tree' } },
      },
      Tree: {
        members: {
          ...pure('toString'),
          ...chained(`append prepend insertBefore insertAfter remove removeAll removeChild replaceWith replaceValues
            before after cleanRaws`),
          ...each('walk walkDecls walkRules walkAtRules walkComments each', {
            call: { returns: 'fresh', mutates: ['this'], keeps: [-1] },
          }),
        },
      },
    },
  },
  one('autoprefixer', withDefault({ call: { returns: 'fresh', keeps: [-1], does: ['files'] } })),
  one(
    'sass',
    withDefault({
      members: {
        ...calls('compile compileString renderSync', files),
        ...promising('compileAsync compileStringAsync', files),
        ...callbackLast('render', files, ['fresh', 'fresh']),
        ...constants('info'),
      },
    }),
  ),
  one(
    'less',
    withDefault({
      members: callbackLast('render', { promiseWithoutCallback: true, does: ['files', 'network'] }, ['fresh', 'fresh']),
    }),
  ),
  one(
    'prettier',
    withDefault({ members: { ...promising('format check formatWithCursor', files), ...constants('version') } }),
  ),
  one(
    'typescript',
    withDefault({
      members: {
        ...pure('transpileModule transpile'),
        ...constants('ModuleKind ScriptTarget JsxEmit ModuleResolutionKind NewLineKind SyntaxKind version'),
      },
    }),
  ),
];
