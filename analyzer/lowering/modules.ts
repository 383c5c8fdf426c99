/**
 * What ties modules together: `require`, `import`, `export`.
 */
import type * as es from 'estree';
import { FunctionFlag, NOTHING, type ValueId } from '../facts.js';
import { constantString, pathPattern } from './constants.js';
import { endOf, type LoweringContext, offset } from './context.js';
import { lowerExpression } from './expressions.js';
import { lowerClass, lowerFunction } from './functions.js';
import { bindClass, lowerVariableDeclaration } from './statements.js';

/** The value of `require(…)`, or null where the call is not one. */
export function lowerRequire(context: LoweringContext, node: es.SimpleCallExpression): ValueId | null {
  const callee = node.callee;
  if (callee.type === 'MemberExpression') return lowerModuleRequire(context, node, callee);
  if (callee.type !== 'Identifier') return null;
  const variable = context.variableAt(callee);
  const isRequire =
    variable === 0 ? callee.name === 'require' && context.kind === 'commonjs' : context.requireVariables.has(variable);
  if (!isRequire || node.arguments.length === 0) return null;
  return requireValue(context, node);
}

/** `module.require('x')` */
function lowerModuleRequire(
  context: LoweringContext,
  node: es.SimpleCallExpression,
  callee: es.MemberExpression,
): ValueId | null {
  if (context.kind !== 'commonjs' || callee.computed) return null;
  if (callee.object.type !== 'Identifier' || callee.object.name !== 'module') return null;
  if (callee.property.type !== 'Identifier' || callee.property.name !== 'require') return null;
  return context.variableAt(callee.object) === 0 && node.arguments.length > 0 ? requireValue(context, node) : null;
}

function requireValue(context: LoweringContext, node: es.SimpleCallExpression): ValueId {
  const value = context.facts.newValue();
  const argument = node.arguments[0] as es.Node;
  const specifier = constantString(context, argument);
  if (specifier === null) {
    lowerExpression(context, argument);
    const late = context.loadLate(offset(node));
    const pattern = pathPattern(context, argument);
    context.dynamicLoads.push({ value, mode: 'require', pattern, start: offset(node), end: endOf(node), late });
    return value;
  }
  const state = context.state;
  const certain = state.fact.parent === -1 && state.conditional === 0;
  context.loads.push({
    value,
    specifier,
    mode: 'require',
    binding: null,
    start: offset(argument),
    end: endOf(argument),
    certain,
    late: certain ? -1 : context.loadLate(offset(node)),
  });
  return value;
}

/** `import('x')`: a promise of the namespace. */
export function lowerImportCall(context: LoweringContext, node: es.ImportExpression): ValueId {
  const namespace = context.facts.newValue();
  const specifier = constantString(context, node.source);
  const place = { start: offset(node.source), end: endOf(node.source) };
  if (specifier === null) {
    lowerExpression(context, node.source);
    const late = context.loadLate(offset(node));
    const pattern = pathPattern(context, node.source);
    context.dynamicLoads.push({
      value: namespace,
      mode: 'import',
      pattern,
      start: offset(node),
      end: endOf(node),
      late,
    });
  } else {
    const late = context.loadLate(offset(node));
    context.loads.push({ value: namespace, specifier, mode: 'import', binding: null, ...place, certain: false, late });
  }
  const promise = context.object('Promise', offset(node));
  context.store(promise, '[[resolved]]', namespace, true, offset(node));
  return promise;
}

export function lowerImport(context: LoweringContext, node: es.ImportDeclaration): void {
  const specifier = String(node.source.value);
  const place = { start: offset(node.source), end: endOf(node.source), certain: true, late: -1 } as const;
  if (node.specifiers.length === 0) {
    context.loads.push({ value: NOTHING, specifier, mode: 'import', binding: null, ...place });
  }
  for (const item of node.specifiers) {
    const value = context.variableAt(item.local);
    const binding =
      item.type === 'ImportDefaultSpecifier'
        ? 'default'
        : item.type === 'ImportNamespaceSpecifier'
          ? null
          : nameOf(item.imported);
    context.loads.push({ value, specifier, mode: 'import', binding, ...place });
  }
}

function nameOf(node: es.Identifier | es.Literal): string {
  return node.type === 'Identifier' ? node.name : String(node.value);
}

export function lowerExportDeclaration(
  context: LoweringContext,
  node: es.ExportNamedDeclaration | es.ExportDefaultDeclaration | es.ExportAllDeclaration,
): void {
  if (node.type === 'ExportDefaultDeclaration') return lowerExportDefault(context, node);
  if (node.type === 'ExportAllDeclaration') return lowerExportAll(context, node);
  if (node.declaration) return lowerExportedDeclaration(context, node.declaration);
  for (const item of node.specifiers) {
    const name = nameOf(item.exported);
    if (node.source) {
      const value = context.facts.newValue();
      const place = { start: offset(node.source), end: endOf(node.source), certain: true, late: -1 };
      context.loads.push({
        value,
        specifier: String(node.source.value),
        mode: 'import',
        binding: nameOf(item.local),
        ...place,
      });
      exportValue(context, name, value, offset(item));
    } else {
      const local = item.local.type === 'Identifier' ? lowerExpression(context, item.local) : NOTHING;
      exportValue(context, name, local, offset(item));
    }
  }
}

function exportValue(context: LoweringContext, name: string, value: ValueId, position: number): void {
  context.exportBindings.set(name, value);
  context.shown.push({ namespace: context.exportsValue, name, value });
  context.store(context.exportsValue, name, value, true, position);
}

function lowerExportAll(context: LoweringContext, node: es.ExportAllDeclaration): void {
  const specifier = String(node.source.value);
  const place = { start: offset(node.source), end: endOf(node.source) };
  if (node.exported == null) {
    context.exportAlls.push({ specifier, mode: 'import', certain: true, ...place });
    return;
  }
  const value = context.facts.newValue();
  context.loads.push({ value, specifier, mode: 'import', binding: null, ...place, certain: true, late: -1 });
  exportValue(context, nameOf(node.exported), value, offset(node));
}

function lowerExportDefault(context: LoweringContext, node: es.ExportDefaultDeclaration): void {
  const declaration = node.declaration;
  let value: ValueId;
  if (declaration.type === 'FunctionDeclaration') {
    value = declaration.id
      ? context.variableAt(declaration.id)
      : lowerFunction(context, declaration as es.Function, 'default', FunctionFlag.expression).self;
  } else if (declaration.type === 'ClassDeclaration' && declaration.id) {
    value = bindClass(context, declaration as es.ClassDeclaration);
  } else if (declaration.type === 'ClassDeclaration') {
    value = lowerClass(context, declaration as es.Class, 'default');
  } else {
    value = lowerExpression(context, declaration as es.Expression, 'default');
  }
  exportValue(context, 'default', value, offset(node));
}

function lowerExportedDeclaration(context: LoweringContext, node: es.Declaration): void {
  if (node.type === 'VariableDeclaration') {
    lowerVariableDeclaration(context, node);
    for (const declarator of node.declarations) exportPattern(context, declarator.id);
  } else if (node.type === 'ClassDeclaration') {
    exportValue(context, node.id.name, bindClass(context, node), offset(node));
  } else {
    exportValue(context, node.id.name, context.variableAt(node.id), offset(node));
  }
}

function exportPattern(context: LoweringContext, pattern: es.Pattern): void {
  switch (pattern.type) {
    case 'Identifier':
      exportValue(context, pattern.name, context.variableAt(pattern), offset(pattern));
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        exportPattern(context, property.type === 'Property' ? property.value : property.argument);
      }
      return;
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element !== null) exportPattern(context, element);
      return;
    case 'AssignmentPattern':
      exportPattern(context, pattern.left);
      return;
    case 'RestElement':
      exportPattern(context, pattern.argument);
      return;
    case 'MemberExpression':
      return;
  }
}
