/**
 * Reads:   tests like `handler.length === 4`, by which wrappers tell handlers of errors from others.
 * Gives:   what they say of the parameter that is asked, so that a function made behind such a test exists only where some
 *          function that the parameter can be passes it.
 */
import type * as es from 'estree';
import { type Guard, VariableKind } from '../facts.js';
import type { LoweringContext } from './context.js';

const inverse = new Map<string, Guard['test']>([
  ['===', '!=='],
  ['!==', '==='],
  ['<', '>='],
  ['>=', '<'],
  ['>', '<='],
  ['<=', '>'],
]);

export function guardOf(context: LoweringContext, test: es.Expression, passed: boolean): Guard | null {
  if (test.type !== 'BinaryExpression' || test.right.type !== 'Literal' || typeof test.right.value !== 'number')
    return null;
  const { left } = test;
  if (left.type !== 'MemberExpression' || left.computed || left.object.type !== 'Identifier') return null;
  if (left.property.type !== 'Identifier' || left.property.name !== 'length') return null;
  const value = context.variableAt(left.object);
  if (context.facts.variables.get(value)?.kind !== VariableKind.parameter) return null;
  const strict = test.operator === '==' ? '===' : test.operator === '!=' ? '!==' : test.operator;
  const opposite = inverse.get(strict);
  const own = opposite === undefined ? undefined : inverse.get(opposite);
  const asked = passed ? own : opposite;
  return asked === undefined ? null : { value, test: asked, count: test.right.value };
}

/** What stands behind `if (fn.length === 4) return …;` is behind the opposite, to the end of the block. */
export function behindExit(context: LoweringContext, statement: es.Node): void {
  if (statement.type !== 'IfStatement' || statement.alternate || !exits(statement.consequent)) return;
  context.state.guard = guardOf(context, statement.test, false) ?? context.state.guard;
}

function exits(node: es.Statement): boolean {
  if (node.type === 'ReturnStatement' || node.type === 'ThrowStatement') return true;
  const last = node.type === 'BlockStatement' ? node.body.at(-1) : undefined;
  return last !== undefined && exits(last);
}

/** `body` is behind the test. */
export function behindTest(context: LoweringContext, test: es.Expression, passed: boolean, body: () => void): void {
  const { state } = context;
  const outer = state.guard;
  state.guard = guardOf(context, test, passed) ?? outer;
  body();
  state.guard = outer;
}
