/**
 * Reads:  source text and what Node takes it for.
 * Gives:  its syntax tree as ESTree has it, with offsets; and `analyze`, which binds the names of such a tree.
 * Throws: SyntaxError with the offset as `index`.
 *
 * Espree is acorn with other errors and other tokens. Nobody asks for tokens here, and to make them is a tenth of its work: so acorn itself
 * makes the tree that espree would, and what it refuses espree is given, which says why.
 *
 * All packages are there as CommonJS and as ES modules. To import the ES modules takes Node more memory
 * and time: they import CommonJS themselves, and for that Node first starts a WebAssembly program that finds its exports.
 */
import { createRequire } from 'node:module';
import type * as es from 'estree';
import { Acorn, type AcornOptions } from './acorn.js';

const load = createRequire(import.meta.url);
const espree = (): typeof import('espree') => load('espree');

/** Loaded when it is first asked for: most of what is compiled never asks, and it brings two packages more. */
export const analyze: typeof import('escope').analyze = (tree, options) => {
  const escope: typeof import('escope') = load('escope');
  return escope.analyze(tree, options);
};

/** `script` is what `eval` takes; CommonJS may also return at its top. */
export type SourceType = 'commonjs' | 'module' | 'script';

/** What each node of a tree has. */
export interface Offsets {
  readonly start: number;
  readonly end: number;
}

export function optionsFor(sourceType: SourceType): AcornOptions {
  return { ecmaVersion: 'latest', sourceType, allowReturnOutsideFunction: sourceType === 'commonjs' };
}

class TreeParser extends Acorn {
  readonly #sourceType: SourceType;
  readonly #templateElements: { start: number; end: number; tail: boolean }[] = [];

  constructor(text: string, sourceType: SourceType) {
    super(optionsFor(sourceType), text);
    this.#sourceType = sourceType;
  }

  override parse(): es.Program {
    const tree = super.parse();
    Object.assign(tree, { sourceType: this.#sourceType });
    // As espree has them: with the marks around them. Not before, as the parser goes on from where they end.
    for (const element of this.#templateElements) {
      element.start -= 1;
      element.end += element.tail ? 1 : 2;
    }
    return tree;
  }

  override parseTemplateElement(options: unknown): es.TemplateElement & Offsets {
    const element = super.parseTemplateElement(options);
    this.#templateElements.push(element);
    return element;
  }
}

/** A list that has grown has room for 17 nodes, and most lists hold one: a sixth of the tree. */
class ShortListParser extends TreeParser {
  override finishNode(node: es.Node, type: string): es.Node {
    const done = super.finishNode(node, type);
    shortenList(done);
    return done;
  }
}

/** Of shorter ones the tree is gone before it counts. */
const LARGE = 500_000;

/** A pair of offsets for each node would take more room than all else of it. */
export function parse(text: string, sourceType: SourceType): es.Program {
  return (
    tryParse(text, sourceType) ?? (espree().parse(text, { ecmaVersion: 'latest', sourceType }) as unknown as es.Program)
  );
}

/** Null where something is wrong with it; to find out what, as `parse` does, takes as long again. */
export function tryParse(text: string, sourceType: SourceType): es.Program | null {
  const Parser = text.length < LARGE ? TreeParser : ShortListParser;
  try {
    return new Parser(text, sourceType).parse();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
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
  return espree().parse(text, { ecmaVersion: 'latest', sourceType, range: true }) as unknown as es.Program;
}
