/**
 * Reads: what a parser has just read.
 * Gives: a number without the words that it was written in, which are a fifth of a long list of them, and which nobody asks for; null for what is no number.
 */
import type * as es from 'estree';
import type { AcornParser } from './acorn.js';

export function bareNumber(parser: AcornParser, value: es.Literal['value']): es.Literal | null {
  if (typeof value !== 'number') return null;
  const node = parser.startNode() as es.SimpleLiteral;
  node.value = value;
  parser.next();
  return parser.finishNode(node, 'Literal') as es.Literal;
}
