/**
 * Reads: the tokens of JavaScript text, one after the other, as the scanner meets them.
 * Gives: whether an operand or an operator comes next, which tells a regular expression from a division and the
 *        placeholder `>> id` from a shift.
 *
 * That takes a stack of the open brackets, with what each of them holds and what may follow it, and the token before.
 */

// An open bracket: its kind in the low two bits, and what is known about it.
export const PAREN = 0;
export const BRACKET = 1;
export const BRACE = 2;
/** `${` in a template literal. */
export const SUBSTITUTION = 3;
const KIND = 3;
/** It holds statements (a block, the body of a function or class), not properties. */
const STATEMENTS = 4;
/** Behind its end comes an operand or a statement: `if (x) /re/`, `{ … } /re/`. */
const OPERAND_AFTER = 8;
/** The parameters of a function that is an expression, so that its body is one too: `(function () {} / 2)`. */
const EXPRESSION_BODY = 16;
/** `class` has been read in it, and its body has not. */
const CLASS_HEAD = 32;
const CLASS_EXPRESSION = 64;

export type BracketKind = typeof PAREN | typeof BRACKET | typeof BRACE | typeof SUBSTITUTION;

// What the token before was, where that decides what comes next.
const OTHER = 0;
const MEMBER_DOT = 1;
const CLOSED_PAREN = 2;
const ARROW = 3;
const HEAD_WORD = 4;
const CLASS_WORD = 5;
const ASYNC_WORD = 6;
const DEFAULT_WORD = 7;
const RETURN_WORD = 8;

const NO_FUNCTION = 0;
const FUNCTION_DECLARATION = 1;
const FUNCTION_EXPRESSION = 2;

type WordRole =
  | 'operator'
  | 'return'
  | 'statement'
  | 'default'
  | 'head'
  | 'await'
  | 'of'
  | 'function'
  | 'class'
  | 'async';

/** What the words do that do not simply stand for a value. */
const ROLES: ReadonlyMap<string, WordRole> = new Map([
  ...rolesOf('operator', 'typeof case in instanceof new delete void throw yield extends import var const'),
  ...rolesOf('return', 'return break continue debugger'),
  ...rolesOf('statement', 'else do try catch finally export'),
  ...rolesOf('default', 'default'),
  ...rolesOf('head', 'if while for with'),
  ...rolesOf('await', 'await'),
  ...rolesOf('of', 'of'),
  ...rolesOf('function', 'function'),
  ...rolesOf('class', 'class'),
  ...rolesOf('async', 'async'),
]);
const LONGEST_WORD = Math.max(...[...ROLES.keys()].map((word) => word.length));

function rolesOf(role: WordRole, words: string): readonly (readonly [string, WordRole])[] {
  return words.split(' ').map((word) => [word, role] as const);
}

/** Words are long in minified text, and few of them are keywords: most are never cut out of it. */
export function mayHaveRole(first: number, length: number): boolean {
  return length > 1 && length <= LONGEST_WORD && first >= 97 && first <= 122;
}

export class SyntaxState {
  /** An operand comes next, not an operator. */
  operand = true;
  /** A line has ended since the last token. */
  newline = true;

  /** A statement may begin here. */
  private statement = true;
  private before = OTHER;
  private functionHead = NO_FUNCTION;
  private asyncStatement = false;
  private lastParen = PAREN;
  private readonly frames: number[] = [BRACE | STATEMENTS];
  /** Per open bracket: how many `?` wait for their `:`. */
  private readonly conditionals: number[] = [0];

  /** Every token ends here. */
  private token(operand: boolean, statement: boolean, before: number): void {
    this.operand = operand;
    this.statement = statement;
    this.before = before;
    this.newline = false;
  }

  operandRead(): void {
    this.token(false, false, OTHER);
  }

  /** On the line of another operand it is what `import … from` names, and ends a statement. */
  stringRead(): void {
    const ends = !this.operand && !this.newline;
    this.token(ends, ends, OTHER);
  }

  operatorRead(): void {
    this.functionHead = NO_FUNCTION;
    this.token(true, false, OTHER);
  }

  /** It may make a function a generator. */
  starRead(): void {
    this.token(true, false, OTHER);
  }

  incrementRead(): void {
    const postfix = !this.operand && !this.newline;
    this.functionHead = NO_FUNCTION;
    this.token(!postfix, false, OTHER);
  }

  memberDotRead(): void {
    this.token(false, false, MEMBER_DOT);
  }

  arrowRead(): void {
    this.token(true, false, ARROW);
  }

  /** A comma or an assignment. */
  separatorRead(): void {
    this.separate(false);
  }

  semicolonRead(): void {
    this.conditionals[this.conditionals.length - 1] = 0;
    this.separate(this.holdsStatements());
  }

  questionRead(): void {
    const last = this.conditionals.length - 1;
    this.conditionals[last] = (this.conditionals[last] ?? 0) + 1;
    this.operatorRead();
  }

  colonRead(): void {
    const last = this.conditionals.length - 1;
    const waiting = this.conditionals[last] ?? 0;
    if (waiting > 0) this.conditionals[last] = waiting - 1;
    // Else it is that of a label or a case, where statements are; or of a property.
    this.separate(waiting === 0 && this.holdsStatements());
  }

  private separate(statement: boolean): void {
    this.functionHead = NO_FUNCTION;
    this.setTop(this.top() & ~(CLASS_HEAD | CLASS_EXPRESSION));
    this.token(true, statement, OTHER);
  }

  // Brackets -------------------------------------------------------------------------------------------------------

  opened(kind: BracketKind): void {
    const frame = kind | this.frameFacts(kind);
    this.functionHead = NO_FUNCTION;
    this.frames.push(frame);
    this.conditionals.push(0);
    this.token(true, (frame & STATEMENTS) !== 0, OTHER);
  }

  private frameFacts(kind: BracketKind): number {
    if (kind === BRACE) return this.braceFacts();
    if (kind !== PAREN) return 0;
    const body = this.functionHead === FUNCTION_EXPRESSION ? EXPRESSION_BODY : 0;
    return this.before === HEAD_WORD ? body | OPERAND_AFTER : body;
  }

  private braceFacts(): number {
    const frame = this.top();
    if ((frame & CLASS_HEAD) !== 0 && (!this.operand || this.before === CLASS_WORD)) {
      this.setTop(frame & ~(CLASS_HEAD | CLASS_EXPRESSION));
      return (frame & CLASS_EXPRESSION) !== 0 ? STATEMENTS : STATEMENTS | OPERAND_AFTER;
    }
    if (this.before === CLOSED_PAREN) {
      return (this.lastParen & EXPRESSION_BODY) !== 0 ? STATEMENTS : STATEMENTS | OPERAND_AFTER;
    }
    return this.blockMayBegin() ? STATEMENTS | OPERAND_AFTER : 0;
  }

  private blockMayBegin(): boolean {
    if (this.before === ARROW || !this.operand) return true;
    if (this.before === RETURN_WORD) return this.newline;
    return this.statement && this.before !== DEFAULT_WORD;
  }

  /** False where no bracket of that kind is the innermost one: the text is wrong, and the others stay open. */
  closed(kind: BracketKind): boolean {
    const frame = this.leave(kind);
    const operand = frame >= 0 && (frame & OPERAND_AFTER) !== 0;
    if (kind === PAREN) this.lastParen = Math.max(frame, PAREN);
    this.token(operand, operand, kind === PAREN ? CLOSED_PAREN : OTHER);
    return frame >= 0;
  }

  private leave(kind: BracketKind): number {
    const frame = this.top();
    this.functionHead = NO_FUNCTION;
    if (this.frames.length === 1 || (frame & KIND) !== kind) return -1;
    this.frames.pop();
    this.conditionals.pop();
    return frame;
  }

  insideSubstitution(): boolean {
    return (this.top() & KIND) === SUBSTITUTION;
  }

  private holdsStatements(): boolean {
    return (this.top() & STATEMENTS) !== 0;
  }

  private top(): number {
    return this.frames[this.frames.length - 1] ?? BRACE;
  }

  private setTop(frame: number): void {
    this.frames[this.frames.length - 1] = frame;
  }

  // Words ----------------------------------------------------------------------------------------------------------

  wordRead(word: string): void {
    const role = this.before === MEMBER_DOT ? undefined : ROLES.get(word);
    if (role === undefined) this.operandRead();
    else this.keywordRead(role);
  }

  private keywordRead(role: WordRole): void {
    switch (role) {
      case 'operator':
        this.token(true, false, OTHER);
        break;
      case 'return':
        this.token(true, false, RETURN_WORD);
        break;
      case 'statement':
        this.token(true, true, OTHER);
        break;
      case 'default':
        this.token(true, true, DEFAULT_WORD);
        break;
      case 'head':
        this.token(false, false, HEAD_WORD);
        break;
      case 'await':
        // `for await (…)`
        this.token(true, false, this.before === HEAD_WORD ? HEAD_WORD : OTHER);
        break;
      case 'of':
        // Behind an operand it is that of `for (x of …)`.
        this.token(!this.operand, false, OTHER);
        break;
      case 'async':
        this.asyncStatement = this.declarationMayBegin();
        this.token(false, false, ASYNC_WORD);
        break;
      case 'function':
        this.functionRead();
        break;
      case 'class':
        this.classRead();
        break;
    }
  }

  private declarationMayBegin(): boolean {
    return this.statement || !this.operand;
  }

  private functionRead(): void {
    const declaration = this.before === ASYNC_WORD ? this.asyncStatement : this.declarationMayBegin();
    this.functionHead = declaration ? FUNCTION_DECLARATION : FUNCTION_EXPRESSION;
    this.token(false, false, OTHER);
  }

  private classRead(): void {
    const expression = this.declarationMayBegin() ? 0 : CLASS_EXPRESSION;
    this.setTop((this.top() & ~CLASS_EXPRESSION) | CLASS_HEAD | expression);
    this.token(false, false, CLASS_WORD);
  }
}
