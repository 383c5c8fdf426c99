/**
 * Strings that are known without running the program: what `require(path.join(__dirname, 'x'))` asks for.
 */
import path from 'node:path';
import type * as es from 'estree';
import type { LoweringContext } from './context.js';

export function constantString(context: LoweringContext, node: es.Node): string | null {
  return evaluate(context, node, null);
}

/** What a path begins and ends with, around what is only known when the program runs: `path.join(__dirname, 'routes', file)`. */
export interface PathPattern {
  readonly prefix: string;
  readonly suffix: string;
}

/** Null where not even a folder is known. */
export function pathPattern(context: LoweringContext, node: es.Node): PathPattern | null {
  const text = evaluate(context, node, HOLE);
  if (text === null) return null;
  const prefix = text.slice(0, text.indexOf(HOLE));
  return prefix.includes('/') ? { prefix, suffix: text.slice(text.lastIndexOf(HOLE) + 1) } : null;
}

/** No path has it in it. */
const HOLE = '\0';

/** `hole` stands for what is not known. */
function evaluate(context: LoweringContext, node: es.Node, hole: string | null): string | null {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : hole;
    case 'TemplateLiteral':
      return templateString(context, node, hole);
    case 'BinaryExpression':
      return node.operator === '+' ? joined(context, [node.left, node.right], hole, (parts) => parts.join('')) : hole;
    case 'Identifier':
      return identifierString(context, node) ?? hole;
    case 'CallExpression':
      return callString(context, node, hole);
    default:
      return hole;
  }
}

function templateString(context: LoweringContext, node: es.TemplateLiteral, hole: string | null): string | null {
  return joined(context, node.expressions, hole, (parts) =>
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
function callString(context: LoweringContext, node: es.SimpleCallExpression, hole: string | null): string | null {
  const name = calleeName(node.callee);
  if (name === 'join' || name === 'resolve') {
    if (node.callee.type === 'MemberExpression' && objectName(node.callee) === 'require') {
      return node.arguments[0] === undefined ? hole : evaluate(context, node.arguments[0], hole);
    }
    return joined(context, node.arguments, hole, (parts) => {
      if (name === 'join') return path.join(...parts);
      // What is resolved against something unknown may be anywhere: `path.resolve(process.cwd(), file)`.
      if (hole !== null && parts[0]?.startsWith(hole)) return hole;
      return path.resolve(path.dirname(context.file), ...parts);
    });
  }
  if (name === 'dirname') return joined(context, node.arguments, hole, (parts) => path.dirname(parts[0] ?? ''));
  return hole;
}

function joined(
  context: LoweringContext,
  nodes: readonly es.Node[],
  hole: string | null,
  join: (parts: readonly string[]) => string,
): string | null {
  const parts: string[] = [];
  for (const node of nodes) {
    const part = evaluate(context, node, hole);
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
