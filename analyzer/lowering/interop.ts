/**
 * Reads:   calls of the helpers that TypeScript, Babel, esbuild and swc write into modules that they compile to CommonJS.
 * Gives:   what they come to, which is what the source said before it was compiled: a module, or a module with itself as its
 *          default. Taken as any code, such a helper would be one function through which all that is imported goes.
 *
 *     const path = __importStar(require('path'));      __export(exports, { serve: () => serve });
 */
import type * as es from 'estree';
import { BodyPiece } from '../../syntax/pieces.js';
import { NOTHING, type ValueId } from '../facts.js';
import { type LoweringContext, offset } from './context.js';
import { lowerExpression } from './expressions.js';

type Helper = 'import' | 'same' | 'export';

const helpers = new Map<string, Helper>([
  ['__importStar', 'import'],
  ['__importDefault', 'import'],
  ['_interopRequireWildcard', 'import'],
  ['_interopRequireDefault', 'import'],
  ['_interop_require_wildcard', 'import'],
  ['_interop_require_default', 'import'],
  ['__toESM', 'import'],
  ['__toCommonJS', 'same'],
  ['__export', 'export'],
  ['_export', 'export'],
]);

/** Null where the call is none of these. */
export function lowerInterop(context: LoweringContext, node: es.SimpleCallExpression): ValueId | null {
  const [first, ...others] = node.arguments;
  const helper = helperOf(context, node.callee);
  if (helper === null || first === undefined) return null;
  if (helper === 'export' && !isExportTable(others)) return null;
  const module = lowerExpression(context, first);
  if (helper === 'export') {
    exportAll(context, module, others[0] as es.ObjectExpression);
    return NOTHING;
  }
  for (const other of others) lowerExpression(context, other);
  if (helper === 'same' || module === NOTHING) return module;
  const result = context.facts.newValue();
  // No container: what functions of the module keep is not found under its names.
  const wrapped = context.object('Namespace', offset(node));
  context.store(wrapped, 'default', module, true, offset(node));
  context.copy(module, result, offset(node));
  context.copy(wrapped, result, offset(node));
  return result;
}

function helperOf(context: LoweringContext, callee: es.Node): Helper | null {
  if (callee.type === 'SequenceExpression') return helperOf(context, callee.expressions.at(-1) as es.Node);
  // Written into the module, or taken from the library of helpers.
  if (callee.type === 'Identifier') {
    const helper = helpers.get(callee.name);
    if (helper === undefined || context.variableAt(callee) === 0) return null;
    return context.isMarkedAsCompiled ? helper : null;
  }
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return null;
  if (!/^_?tslib(_\d+)?$/.test(callee.object.name) || callee.property.type !== 'Identifier') return null;
  const helper = helpers.get(callee.property.name);
  return helper === 'import' ? helper : null;
}

/** `{ serve: () => serve, … }`, or swc's `{ get serve() { return serve; }, … }`, and nothing else. */
function isExportTable([table, ...others]: readonly es.Node[]): boolean {
  return (
    table?.type === 'ObjectExpression' &&
    others.length === 0 &&
    table.properties.every(
      (property) =>
        property.type === 'Property' &&
        !property.computed &&
        property.kind !== 'set' &&
        exportedBy(property.value) !== null,
    )
  );
}

/** The variable that a function without parameters gives, if that is all that it does. */
function exportedBy(value: es.Node): es.Identifier | null {
  if (value.type !== 'ArrowFunctionExpression' && value.type !== 'FunctionExpression') return null;
  if (value.params.length > 0 || value.async || value.generator) return null;
  if (value.body.type === 'Identifier') return value.body;
  // One that only gives a variable is left where it is.
  if (value.body instanceof BodyPiece) return null;
  const [only, ...others] = value.body.type === 'BlockStatement' ? value.body.body : [];
  if (only?.type !== 'ReturnStatement' || others.length > 0) return null;
  return only.argument?.type === 'Identifier' ? only.argument : null;
}

function exportAll(context: LoweringContext, target: ValueId, table: es.ObjectExpression): void {
  for (const property of table.properties) {
    if (property.type !== 'Property') continue;
    const { key, value } = property;
    const exported = exportedBy(value);
    if (exported === null) continue;
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : null;
    const variable = lowerExpression(context, exported);
    context.store(target, name, variable, true, offset(property));
    if (name !== null) context.shown.push({ namespace: target, name, value: variable });
  }
}
