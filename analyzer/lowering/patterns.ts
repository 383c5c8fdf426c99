/**
 * Binding and assignment: a value goes into a variable, a property, or through a pattern into several.
 */
import type * as es from 'estree';
import { NOTHING, Op, type ValueId } from '../facts.js';
import { constantString } from './constants.js';
import { endOf, type LoweringContext, offset } from './context.js';
import { lowerExpression, lowerThis } from './expressions.js';
import { isEnvironment } from './plain.js';

/** `declare` makes the variable (its first value is no change); `assign` changes one that exists. */
export type Binding = 'declare' | 'assign';

export function bindPattern(context: LoweringContext, pattern: es.Pattern, value: ValueId, binding: Binding): void {
  switch (pattern.type) {
    case 'Identifier':
      return bindIdentifier(context, pattern, value, binding);
    case 'MemberExpression':
      return assignMember(context, pattern, value);
    case 'ObjectPattern':
      return bindObjectPattern(context, pattern, value, binding);
    case 'ArrayPattern':
      return bindArrayPattern(context, pattern, value, binding);
    case 'RestElement':
      return bindPattern(context, pattern.argument, value, binding);
    case 'AssignmentPattern':
      return bindWithDefault(context, pattern, value, binding);
  }
}

function bindIdentifier(context: LoweringContext, node: es.Identifier, value: ValueId, binding: Binding): void {
  const variable = context.variableAt(node);
  if (variable === 0) {
    // An undeclared name: a property of the global object that every module sees.
    if (context.kind === 'commonjs' && node.name === 'exports') context.usesExports = true;
    const global =
      context.kind === 'commonjs' && node.name === 'exports' ? context.exportsValue : context.global(node.name);
    context.copy(value, global, offset(node));
    context.write(global, offset(node));
    return;
  }
  if (value !== NOTHING) {
    context.bound.add(variable);
    context.facts.plain.delete(variable);
    context.facts.ofEnvironment.delete(variable);
  }
  if (binding === 'declare') context.placeVariable(variable);
  else context.write(variable, offset(node));
  context.copy(value, variable, offset(node));
}

export function assignMember(context: LoweringContext, node: es.MemberExpression, value: ValueId): void {
  if (isEnvironment(context, node)) context.facts.replacesEnvironment = true;
  const global = globalNamed(context, node);
  if (global !== null) {
    context.copy(value, global, offset(node));
    context.write(global, offset(node));
    return;
  }
  if (node.object.type === 'Super') {
    context.store(lowerThis(context), propertyName(context, node), value, false, offset(node));
    return;
  }
  const base = lowerExpression(context, node.object);
  storeMember(context, node, { base, name: propertyName(context, node) }, value);
}

/** Where a property is: of what, and under which name, null where it is computed. */
export interface Place {
  readonly base: ValueId;
  readonly name: string | null;
}

export function storeMember(
  context: LoweringContext,
  node: es.MemberExpression,
  { base, name }: Place,
  value: ValueId,
): void {
  if (isModuleExports(context, node)) context.assignsModuleExports = true;
  context.store(base, name, value, false, offset(node));
  if (base !== NOTHING && name === null) noteKey(context, node);
}

/** Behind the op of a member expression whose property is not known. */
export function noteKey(context: LoweringContext, { computed, property }: es.MemberExpression): void {
  if (!computed || property.type !== 'Identifier') return;
  const variable = context.variableAt(property);
  if (variable !== NOTHING) context.facts.keys.set(context.facts.kind.length - 1, variable);
}

function isModuleExports(context: LoweringContext, node: es.MemberExpression): boolean {
  return (
    context.kind === 'commonjs' &&
    node.object.type === 'Identifier' &&
    node.object.name === 'module' &&
    context.variableAt(node.object) === 0 &&
    !node.computed &&
    node.property.type === 'Identifier' &&
    node.property.name === 'exports'
  );
}

/** `globalThis.hits` is what other modules see as `hits`. */
export function globalNamed(context: LoweringContext, node: es.MemberExpression): ValueId | null {
  const { object, property } = node;
  if (object.type !== 'Identifier' || node.computed || property.type !== 'Identifier') return null;
  if ((object.name !== 'global' && object.name !== 'globalThis') || context.variableAt(object) !== 0) return null;
  return context.global(property.name);
}

/** The name of the property that a member expression names, null where it is computed; lowers a computed key. */
export function propertyName(context: LoweringContext, node: es.MemberExpression): string | null {
  const property = node.property;
  if (!node.computed) {
    if (property.type === 'Identifier') return property.name;
    return property.type === 'PrivateIdentifier' ? `#${property.name}` : null;
  }
  if (property.type === 'Literal' && typeof property.value === 'string') return property.value;
  if (isSymbol(property)) return symbolName(property);
  const constant = property.type === 'PrivateIdentifier' ? null : constantString(context, property);
  if (property.type !== 'PrivateIdentifier') lowerExpression(context, property);
  return constant;
}

/** The name that a property of a literal, class or pattern has, null where it is computed; lowers a computed key. */
export function keyName(
  context: LoweringContext,
  node: { readonly key: es.Expression | es.PrivateIdentifier; readonly computed: boolean },
): string | null {
  const key = node.key;
  if (key.type === 'PrivateIdentifier') return `#${key.name}`;
  if (!node.computed) {
    if (key.type === 'Identifier') return key.name;
    return key.type === 'Literal' ? String(key.value) : null;
  }
  if (isSymbol(key)) return symbolName(key);
  const constant = constantString(context, key);
  lowerExpression(context, key);
  return constant;
}

/** `Symbol.iterator` */
function isSymbol(node: es.Node): node is es.MemberExpression {
  if (node.type !== 'MemberExpression' || node.computed) return false;
  return node.object.type === 'Identifier' && node.object.name === 'Symbol';
}

function symbolName(node: es.MemberExpression): string {
  return `@@${node.property.type === 'Identifier' ? node.property.name : ''}`;
}

function bindObjectPattern(
  context: LoweringContext,
  pattern: es.ObjectPattern,
  value: ValueId,
  binding: Binding,
): void {
  for (const property of pattern.properties) {
    if (property.type === 'RestElement') {
      const rest = context.object('Object', offset(property));
      if (value !== 0) context.op(Op.copyProperties, value, rest, 0, 1, offset(property));
      bindPattern(context, property.argument, rest, binding);
    } else {
      const name = keyName(context, property);
      bindPattern(context, property.value, context.load(value, name, offset(property)), binding);
    }
  }
}

function bindArrayPattern(context: LoweringContext, pattern: es.ArrayPattern, value: ValueId, binding: Binding): void {
  for (const element of pattern.elements) {
    if (element === null) continue;
    if (element.type === 'RestElement') {
      const rest = context.object('Array', offset(element));
      context.store(rest, null, context.items(value, offset(element)), true, offset(element));
      bindPattern(context, element.argument, rest, binding);
    } else {
      bindPattern(context, element, context.items(value, offset(element)), binding);
    }
  }
}

function bindWithDefault(
  context: LoweringContext,
  pattern: es.AssignmentPattern,
  value: ValueId,
  binding: Binding,
): void {
  const either = context.facts.newValue();
  context.copy(value, either, offset(pattern));
  context.aside(() =>
    context.copy(lowerExpression(context, pattern.right, patternName(pattern.left)), either, endOf(pattern)),
  );
  bindPattern(context, pattern.left, either, binding);
}

export function patternName(pattern: es.Node): string {
  return pattern.type === 'Identifier' ? pattern.name : '';
}
