/**
 * Reads: source text as the fluxional language writes it, and the ids that its placeholders may name.
 * Gives: tokens for colouring; joined, their texts are the source again.
 *
 * The page's script carries this function as text, so it must stand alone: it uses nothing but its parameters.
 * It colours, it does not judge: whatever it does not know comes out as plain text.
 */

export type TokenKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'regex' | 'stream' | 'dest';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

export function tokenize(source: string, isStage: (id: string) => boolean): Token[] {
  const keywords = new Set(
    (
      'async await break case catch class const continue debugger default delete do else export extends false finally ' +
      'for from function if import in instanceof let new null of return set static super switch this throw true ' +
      'try typeof undefined var void while with yield'
    ).split(' '),
  );
  // What stands before tells a regular expression from a division, and a placeholder from a shift.
  const valueWords = new Set(['this', 'super', 'null', 'true', 'false', 'undefined']);
  const patterns = {
    space: /\s+/y,
    comment: /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y,
    string: /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y,
    number: /(?:0[xob][\da-f_]+|\d[\d_]*\.?[\d_]*(?:e[+-]?\d+)?|\.\d[\d_]*)n?/iy,
    word: /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy,
    regex: /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y,
    stream: /(?:>>|->)\s*/y,
    list: /\s*,\s*/y,
    template: /(?:[^`\\$]|\\[\s\S]|\$(?!\{))+/y,
    operator: /--|\+\+|=>|[\s\S]/uy,
  };
  const tokens: Token[] = [];
  /** For each template that we are in, how many braces are open in its current expression. */
  const templates: number[] = [];
  let at = 0;
  let afterValue = false;

  function match(pattern: RegExp): string | null {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0] || null;
  }

  function push(kind: TokenKind, text: string): void {
    const last = tokens.at(-1);
    if (last !== undefined && last.kind === kind && kind !== 'dest') {
      tokens[tokens.length - 1] = { kind, text: last.text + text };
    } else tokens.push({ kind, text });
    at += text.length;
  }

  function templateText(): void {
    const text = match(patterns.template);
    if (text !== null) push('string', text);
    if (source[at] === '`') {
      push('string', '`');
      templates.pop();
      afterValue = true;
    } else if (at < source.length) {
      push('plain', source.startsWith('${', at) ? '${' : source[at]!);
      templates[templates.length - 1] = 0;
      afterValue = false;
    }
  }

  /** `>> a` or `-> a`; further ids only where the list goes on with ids of stages. */
  function placeholder(): boolean {
    const arrow = match(patterns.stream);
    if (arrow === null || (afterValue && arrow.startsWith('>>'))) return false;
    const start = at;
    at += arrow.length;
    const first = match(patterns.word);
    at = start;
    if (first === null || !isStage(first)) return false;
    push('stream', arrow);
    push('dest', first);
    for (;;) {
      const comma = match(patterns.list);
      if (comma === null) break;
      at += comma.length;
      const next = match(patterns.word);
      at -= comma.length;
      if (next === null || !isStage(next)) break;
      push('plain', comma);
      push('dest', next);
    }
    afterValue = true;
    return true;
  }

  function word(text: string): void {
    const isMember = tokens.at(-1)?.text.endsWith('.') === true;
    const isKeyword = keywords.has(text) && !isMember;
    push(isKeyword ? 'keyword' : 'plain', text);
    afterValue = !isKeyword || valueWords.has(text);
  }

  function operator(): void {
    const text = match(patterns.operator) ?? source[at]!;
    const depth = templates.length - 1;
    if (text === '{' && depth >= 0) templates[depth]! += 1;
    if (text === '}' && depth >= 0) templates[depth]! -= 1;
    const endsExpression = text === '}' && depth >= 0 && templates[depth]! < 0;
    push('plain', text);
    // -1 stands for "in the text of the template", which is where the closing brace brings us back to.
    if (endsExpression) templates[depth] = -1;
    afterValue = text === ')' || text === ']' || text === '}';
  }

  while (at < source.length) {
    if (templates.at(-1) === -1) {
      templateText();
      continue;
    }
    const space = match(patterns.space);
    if (space !== null) {
      push('plain', space);
      continue;
    }
    const comment = match(patterns.comment);
    if (comment !== null) {
      push('comment', comment);
      continue;
    }
    if (placeholder()) continue;
    const literal = match(patterns.string);
    const regex = afterValue ? null : match(patterns.regex);
    const number = match(patterns.number);
    const name = match(patterns.word);
    if (source[at] === '`') {
      push('string', '`');
      templates.push(-1);
    } else if (literal !== null) {
      push('string', literal);
      afterValue = true;
    } else if (regex !== null) {
      push('regex', regex);
      afterValue = true;
    } else if (number !== null) {
      push('number', number);
      afterValue = true;
    } else if (name !== null) word(name);
    else operator();
  }
  return tokens;
}
