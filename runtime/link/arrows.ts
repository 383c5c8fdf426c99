/**
 * Reads: the text of a function.
 * Gives: whether it is an arrow function that takes `this` from around it, and whether it can be called without any code of its own
 *        running before its first statement.
 */

/**
 * `none`: what it calls `this` it is given by who calls it, or it does not name it. `around`: it can be asked for. `unclear`: nobody
 * can tell, since its parameters have code in them, or it has more than `this` from around it.
 */
export type LexicalThis = 'none' | 'around' | 'unclear';

const NAMES_IT = /\b(?:this|super)\b|\bnew\s*\.\s*target\b/;
const NEW_TARGET = /\bnew\s*\.\s*target\b/;

const GAP = String.raw`(?:\s|\/\*[^]*?\*\/|\/\/[^\n\r\u2028\u2029]*)*`;
const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`;
/** Names and patterns of names: no default values, no computed names, nothing that runs. */
const PARAMETERS = String.raw`\((?:[\p{ID_Continue}$\s,{}:.]|\/\*[^]*?\*\/|\/\/[^\n\r\u2028\u2029]*)*\)`;

const OWN_THIS = new RegExp(String.raw`^(?:async${GAP})?(?:function|class)\b`, 'u');
const ARROW = new RegExp(String.raw`^(?:async\b${GAP})?(?:${PARAMETERS}|${NAME})${GAP}=>`, 'u');
/** `async(a) {}` is a method of that name. */
const METHOD = new RegExp(String.raw`^async${GAP}${PARAMETERS}${GAP}\{`, 'u');
const BEGINS_LIKE_ARROW = new RegExp(String.raw`^(?:async${GAP})?\(`, 'u');

export function lexicalThis(text: string): LexicalThis {
  if (!NAMES_IT.test(text) || OWN_THIS.test(text)) return 'none';
  if (ARROW.test(text)) return NEW_TARGET.test(text) ? 'unclear' : 'around';
  return BEGINS_LIKE_ARROW.test(text) && !METHOD.test(text) ? 'unclear' : 'none';
}
