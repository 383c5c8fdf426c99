/**
 * Gives: what of acorn's parser counts here. It is the one that espree extends, so its tree is espree's.
 */
import { createRequire } from 'node:module';
import type * as es from 'estree';

const load = createRequire(import.meta.url);

export interface AcornParser {
  input: string;
  pos: number;
  type: object;
  start: number;
  end: number;
  lastTokStart: number;
  lastTokEnd: number;
  context: object[];
  exprAllowed: boolean;
  strict: boolean;
  potentialArrowAt: number;
  labels: unknown[];
  scopeStack: unknown[];
  /** Where `yield` and `await` are no names. */
  readonly inGenerator: boolean;
  readonly canAwait: boolean;
  parse(): es.Program;
  catchStackOverflow<T>(step: () => T): T;
  initialContext(): object[];
  enterScope(flags: number): void;
  exitScope(): void;
  next(): void;
  nextToken(): void;
  startNode(): es.Node;
  finishNode(node: es.Node, type: string): es.Node;
  parseTopLevel(program: es.Program): es.Program;
  parseStatement(context: string | null, topLevel?: boolean, exports?: object): es.Statement;
  parseFunctionBody(node: FunctionNode, isArrow: boolean, isMethod: boolean, forInit: unknown): void;
  parseExprAtom(errors?: object, forInit?: unknown, forNew?: boolean): es.Expression;
  parseObj(isPattern: boolean, errors?: object): es.ObjectExpression | es.ObjectPattern;
  /** Of all but regular expressions, which add to it. */
  parseLiteral(value: es.Literal['value']): es.Literal;
  parseTemplateElement(options: unknown): es.TemplateElement & { start: number; end: number };
}

/** One whose body comes next. */
export interface FunctionNode {
  params: es.Pattern[];
  body: es.BlockStatement | es.Expression | null;
  expression: boolean;
}

export type AcornOptions = { readonly [name: string]: unknown };

interface Loaded {
  readonly Parser: new (options: AcornOptions, text: string) => AcornParser;
  readonly tokTypes: { readonly [name in 'braceL' | 'bracketL' | 'parenL' | 'parenR' | 'eq']: object };
  readonly tokContexts: { readonly [name in 'f_gen']: object };
}

const { Parser, tokTypes, tokContexts } = createRequire(load.resolve('espree'))('acorn') as Loaded;

export class Acorn extends Parser {
  /**
   * Acorn looks at the error's words right where the stack ends, by regular expressions that it has not used before: V8 of Node 20 ends the
   * process where there is no stack left to compile one. Whoever parses takes the error as it is.
   */
  override catchStackOverflow<T>(step: () => T): T {
    return step();
  }
}

export { tokContexts, tokTypes };

/** What acorn says of a scope, as numbers. */
export const SCOPE_TOP = 1;
export const SCOPE_FUNCTION = 2;
export const SCOPE_ASYNC = 4;
export const SCOPE_GENERATOR = 8;
/** `super.x` and `super()` are allowed. */
export const SCOPE_SUPER = 64 | 128;
