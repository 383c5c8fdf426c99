/**
 * Reads: a function that was made from text while the program runs, with `new Function`.
 * Gives: whether it goes by nothing but what it is called with, and changes nothing: it puts together what methods of its parameters give, as
 *        packages make them that compile formats.
 *
 *     new Function('tokens, req, res', 'return "took " + (tokens["time"](req, res) || "-")')
 *
 * It has no variables around it, so all that it could touch stands in its text.
 */

const MADE = /^function anonymous\(([\w$,\s]*)\n\) \{\n([\s\S]*)\n\}$/;
const STRINGS = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
/** With strings taken out: no assignment, no template, no regular expression, no comment. */
const PLAIN = /^[\w$\s()[\].,;+|&?:!<>"-]*$/;
/** What is named by a value could be anything; and so could what is made of what a function was made by. */
const COMPUTED = /\[(?!""\])|\+\+|--/;
const MAKERS = /constructor|prototype|__/;
const NAMES = /(?<![\w$.])[A-Za-z_$][\w$]*/g;
/** What is called: a method of a parameter, by its name; a bracket that calls nothing follows an operator. */
const CALLS = /([\w$\])"][ \t\n]*)\(/g;

export function goesByItsParameters(fn: object): boolean {
  const [, list, body] = MADE.exec(Function.prototype.toString.call(fn)) ?? [];
  if (list === undefined || body === undefined || MAKERS.test(body)) return false;
  const text = body.replace(STRINGS, '""');
  if (!PLAIN.test(text) || COMPUTED.test(text)) return false;
  const params = new Set(list.split(',').map((name) => name.trim()));
  if (![...text.matchAll(NAMES)].every(([name]) => name === 'return' || params.has(name))) return false;
  return [...text.matchAll(CALLS)].every(({ index, 0: found }) => {
    const before = text.slice(0, index + found.length - 1).trimEnd();
    const [, callee] = /(?<![\w$.])([A-Za-z_$][\w$]*)(?:\[""\])?$/.exec(before) ?? [];
    return callee === 'return' || (before.endsWith(']') && callee !== undefined && params.has(callee));
  });
}
