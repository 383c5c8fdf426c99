/**
 * Reads:  source text and what Node takes it for.
 * Gives:  its syntax tree as ESTree has it, with offsets; and `analyze`, which binds the names of such a tree.
 * Throws: SyntaxError with the offset as `index`.
 *
 * Both packages are there as CommonJS and as ES modules. To import the ES modules takes Node more memory
 * and time: one of them imports CommonJS itself, and for that Node first starts a WebAssembly program that finds its exports.
 */
import { createRequire } from 'node:module';
import type * as es from 'estree';

const load = createRequire(import.meta.url);
const acorn: typeof import('acorn') = load('acorn');
const escope: typeof import('escope') = load('escope');

export const { analyze } = escope;

/** `script` is what `eval` takes; CommonJS may also return at its top. */
export type SourceType = 'commonjs' | 'module' | 'script';

export function parse(text: string, sourceType: SourceType): es.Program {
  const options = {
    ecmaVersion: 'latest',
    sourceType: sourceType === 'module' ? 'module' : 'script',
    allowReserved: false,
    allowReturnOutsideFunction: sourceType === 'commonjs',
  } as const;
  return new ModuleParser(options, text).parse() as unknown as es.Program;
}

/** What each node of the tree has. */
export interface Offsets {
  readonly start: number;
  readonly end: number;
}

/** A pair of offsets for each node would take more room than all else of it, and few are asked for. */
class SyntaxNode {
  type = '';
  start: number;
  end = 0;

  constructor(start: number) {
    this.start = start;
  }

  get range(): [number, number] {
    return [this.start, this.end];
  }
}

/** What the parser has for those that extend it, as far as it is used here. */
interface ParserState {
  pos: number;
  readonly start: number;
  readonly end: number;
  readonly input: string;
  nextToken(): void;
}

class OpenParser extends (acorn.Parser as unknown as new (options: object, text: string) => { parse(): object }) {}

class ModuleParser extends OpenParser {
  startNode(): SyntaxNode {
    return new SyntaxNode((this as unknown as ParserState).start);
  }

  startNodeAt(start: number): SyntaxNode {
    return new SyntaxNode(start);
  }

  copyNode(node: SyntaxNode): SyntaxNode {
    return Object.assign(new SyntaxNode(node.start), node);
  }

  raise(offset: number, message: string): never {
    throw Object.assign(new SyntaxError(message), { index: offset });
  }

  raiseRecoverable(offset: number, message: string): never {
    return this.raise(offset, message);
  }

  /** Says what stands there. */
  unexpected(offset?: number | null): never {
    const state = this as unknown as ParserState;
    if (offset != null) {
      state.pos = offset;
      state.nextToken();
    }
    const found = state.input.slice(state.start, state.end);
    return this.raise(state.start, found === '' ? 'Unexpected token' : `Unexpected token ${found}`);
  }
}
