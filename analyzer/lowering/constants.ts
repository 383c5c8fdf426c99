/**
 * Strings that are known without running the program: what `require(path.join(__dirname, 'x'))` asks for.
 */
import path from 'node:path';
import type * as es from 'estree';
import type { LoweringContext } from './context.js';

export function constantString(context: LoweringContext, node: es.Node): string | null {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : null;
    case 'TemplateLiteral':
      return templateString(context, node);
    case 'BinaryExpression':
      return node.operator === '+' ? joined(context, [node.left, node.right], (parts) => parts.join('')) : null;
    case 'Identifier':
      return identifierString(context, node);
    case 'CallExpression':
      return callString(context, node);
    default:
      return null;
  }
}

function templateString(context: LoweringContext, node: es.TemplateLiteral): string | null {
  return joined(context, node.expressions, (parts) =>
    node.quasis.map((quasi, index) => (quasi.value.cooked ?? '') + (parts[index] ?? '')).join(''),
  );
}

function identifierString(context: LoweringContext, node: es.Identifier): string | null {
  const variable = context.variableAt(node);
  if (variable !== 0) return context.constants.get(variable) ?? null;
  if (context.kind !== 'commonjs') return null;
  if (node.name === '__dirname') return path.dirname(context.file);
  return node.name === '__filename' ? context.file : null;
}

/** `path.join(…)`, `path.resolve(…)` and `require.resolve(…)` of constants, by name: these names mean nothing else. */
function callString(context: LoweringContext, node: es.SimpleCallExpression): string | null {
  const name = calleeName(node.callee);
  if (name === 'join' || name === 'resolve') {
    if (node.callee.type === 'MemberExpression' && objectName(node.callee) === 'require') {
      return node.arguments[0] === undefined ? null : constantString(context, node.arguments[0]);
    }
    return joined(context, node.arguments, (parts) =>
      name === 'join' ? path.join(...parts) : path.resolve(path.dirname(context.file), ...parts),
    );
  }
  if (name === 'dirname') return joined(context, node.arguments, (parts) => path.dirname(parts[0] ?? ''));
  return null;
}

function joined(
  context: LoweringContext,
  nodes: readonly es.Node[],
  join: (parts: readonly string[]) => string,
): string | null {
  const parts: string[] = [];
  for (const node of nodes) {
    const part = constantString(context, node);
    if (part === null) return null;
    parts.push(part);
  }
  const text = join(parts);
  return text.length > longestPath ? null : text;
}

/** Nothing longer is a path. A text of many pieces would be made again for each `+` in it. */
const longestPath = 4096;

function calleeName(callee: es.Node): string | null {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.computed) return null;
  const object = objectName(callee);
  if (object !== 'path' && object !== 'require') return null;
  return callee.property.type === 'Identifier' ? callee.property.name : null;
}

function objectName(member: es.MemberExpression): string | null {
  return member.object.type === 'Identifier' ? member.object.name : null;
}
