/**
 * Reads:  source text and what Node takes it for.
 * Gives:  its syntax tree as ESTree has it, with offsets; and `analyze`, which binds the names of such a tree.
 * Throws: SyntaxError with the offset as `index`.
 *
 * Both packages are there as CommonJS and as ES modules. To import the ES modules takes Node more memory
 * and time: they import CommonJS themselves, and for that Node first starts a WebAssembly program that finds its exports.
 */
import { createRequire } from 'node:module';
import type * as es from 'estree';

const load = createRequire(import.meta.url);
const espree: typeof import('espree') = load('espree');

/** Loaded when it is first asked for: most of what is compiled never asks, and it brings two packages more. */
export const analyze: typeof import('escope').analyze = (tree, options) => {
  const escope: typeof import('escope') = load('escope');
  return escope.analyze(tree, options);
};

/** The parser that espree extends: where each of its nodes comes by when it is done. */
const { prototype: parser }: { readonly prototype: NodeFinisher } = createRequire(load.resolve('espree'))(
  'acorn',
).Parser;

interface NodeFinisher {
  finishNode(node: es.Node, type: string): es.Node;
}

/** `script` is what `eval` takes; CommonJS may also return at its top. */
export type SourceType = 'commonjs' | 'module' | 'script';

/** What each node of a tree has. */
export interface Offsets {
  readonly start: number;
  readonly end: number;
}

/** Of shorter ones the tree is gone before it counts. */
const LARGE = 500_000;

/** A pair of offsets for each node would take more room than all else of it. */
export function parse(text: string, sourceType: SourceType): es.Program {
  const run = (): es.Program => espree.parse(text, { ecmaVersion: 'latest', sourceType }) as unknown as es.Program;
  return text.length < LARGE ? run() : withShortLists(run);
}

/** A list that has grown has room for 17 nodes, and most lists hold one: a sixth of the tree. Nobody else parses meanwhile. */
function withShortLists(run: () => es.Program): es.Program {
  const { finishNode } = parser;
  parser.finishNode = function (this: NodeFinisher, node, type) {
    const done = finishNode.call(this, node, type);
    shortenList(done);
    return done;
  };
  try {
    return run();
  } finally {
    parser.finishNode = finishNode;
  }
}

function shortenList(node: es.Node): void {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      node.arguments = node.arguments.slice();
      break;
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
    case 'FunctionDeclaration':
      node.params = node.params.slice();
      break;
    case 'BlockStatement':
      node.body = node.body.slice();
      break;
    case 'VariableDeclaration':
      node.declarations = node.declarations.slice();
      break;
    case 'ObjectExpression':
      node.properties = node.properties.slice();
      break;
    case 'ArrayExpression':
      node.elements = node.elements.slice();
      break;
    case 'SequenceExpression':
      node.expressions = node.expressions.slice();
      break;
  }
}

/** With such pairs, as `analyze` asks for them. */
export function parseWithRanges(text: string, sourceType: SourceType): es.Program {
  return espree.parse(text, { ecmaVersion: 'latest', sourceType, range: true }) as unknown as es.Program;
}
