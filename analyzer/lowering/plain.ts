/**
 * Expressions that give a text, a number, a boolean or nothing, whatever the program does: there is no object in what holds them.
 */
import type * as es from 'estree';
import { constantString } from './constants.js';
import type { LoweringContext } from './context.js';

export function isPlain(context: LoweringContext, node: es.Node): boolean {
  switch (node.type) {
    case 'Literal':
      return typeof node.value !== 'object';
    case 'TemplateLiteral':
    case 'UnaryExpression':
    case 'BinaryExpression':
    case 'UpdateExpression':
      return true;
    case 'LogicalExpression':
      return isPlain(context, node.left) && isPlain(context, node.right);
    case 'ConditionalExpression':
      return isPlain(context, node.consequent) && isPlain(context, node.alternate);
    case 'ChainExpression':
      return isPlain(context, node.expression);
    case 'Identifier':
      return isGlobal(context, node, 'undefined') || context.plainConstants.has(context.variableAt(node));
    case 'MemberExpression':
      return isEnvironment(context, node.object);
    case 'CallExpression':
      return givesPlain(context, node.callee) || constantString(context, node) !== null;
    default:
      return false;
  }
}

/** It may be what has been read of `process.env`. */
export function isOfEnvironment(context: LoweringContext, node: es.Node): boolean {
  switch (node.type) {
    case 'MemberExpression':
      return isEnvironment(context, node.object);
    case 'Identifier':
      return context.environmentConstants.has(context.variableAt(node));
    case 'ChainExpression':
      return isOfEnvironment(context, node.expression);
    case 'LogicalExpression':
      return isOfEnvironment(context, node.left) || isOfEnvironment(context, node.right);
    case 'ConditionalExpression':
      return isOfEnvironment(context, node.consequent) || isOfEnvironment(context, node.alternate);
    default:
      return false;
  }
}

export function isEnvironment(context: LoweringContext, node: es.Node): boolean {
  return isMember(context, node, 'process', /^env$/);
}

function givesPlain(context: LoweringContext, callee: es.Node): boolean {
  return (
    ['Number', 'String', 'Boolean', 'parseInt', 'parseFloat'].some((name) => isGlobal(context, callee, name)) ||
    isMember(context, callee, 'Date', /^(now|parse|UTC)$/) ||
    isMember(context, callee, 'Math', /^\w+$/) ||
    isMember(context, callee, 'JSON', /^stringify$/)
  );
}

function isGlobal(context: LoweringContext, node: es.Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name && context.variableAt(node) === 0;
}

function isMember(context: LoweringContext, node: es.Node, object: string, property: RegExp): boolean {
  return (
    node.type === 'MemberExpression' &&
    !node.computed &&
    node.property.type === 'Identifier' &&
    property.test(node.property.name) &&
    isGlobal(context, node.object, object)
  );
}
