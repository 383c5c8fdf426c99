/**
 * Expressions: each gives the value that holds its result, NOTHING where the result is of no interest (numbers, strings,
 * booleans), and leaves the ops that it takes to get there.
 */
import type * as es from 'estree';
import { FunctionFlag, NOTHING, Op, Opaque, type ValueId } from '../facts.js';
import { lowerCreatedClass } from './class-helper.js';
import { constantString } from './constants.js';
import { endOf, type LoweringContext, offset } from './context.js';
import { lowerDecorated } from './decorated.js';
import { defineAccessors } from './defined.js';
import { lowerClass, lowerFunction } from './functions.js';
import { behindTest } from './guards.js';
import { lowerInterop } from './interop.js';
import { lowerImportCall, lowerRequire } from './modules.js';
import {
  assignMember,
  bindPattern,
  globalNamed,
  keyName,
  noteKey,
  type Place,
  patternName,
  propertyName,
  storeMember,
} from './patterns.js';

export function lowerExpression(context: LoweringContext, node: es.Node, name = ''): ValueId {
  switch (node.type) {
    case 'Identifier':
      return lowerIdentifier(context, node);
    case 'Literal':
      return 'regex' in node ? context.object(typeOfRegExp(node.regex.flags), offset(node)) : NOTHING;
    case 'MemberExpression':
      return lowerMember(context, node);
    case 'CallExpression':
      return lowerCall(context, node);
    case 'NewExpression':
      return lowerNew(context, node);
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return lowerFunction(context, node, name, FunctionFlag.expression).self;
    case 'ObjectExpression':
      return lowerObject(context, node);
    case 'ArrayExpression':
      return lowerArray(context, node);
    case 'AssignmentExpression':
      return lowerAssignment(context, node);
    case 'BinaryExpression':
      return lowerBinary(context, node);
    case 'LogicalExpression':
      return lowerLogical(context, node);
    case 'ConditionalExpression':
      return lowerConditional(context, node, name);
    case 'AwaitExpression':
      return lowerAwait(context, node);
    case 'ThisExpression':
      return lowerThis(context);
    case 'TemplateLiteral':
      return lowerTemplate(context, node);
    case 'UnaryExpression':
      return lowerUnary(context, node);
    case 'UpdateExpression':
      return lowerUpdate(context, node);
    case 'SequenceExpression':
      return lowerSequence(context, node);
    case 'ChainExpression':
      return lowerExpression(context, node.expression, name);
    case 'ClassExpression':
      return lowerClass(context, node, name);
    case 'SpreadElement':
      return lowerExpression(context, node.argument);
    case 'YieldExpression':
      return lowerYield(context, node);
    case 'TaggedTemplateExpression':
      return lowerTagged(context, node);
    case 'ImportExpression':
      return lowerImportCall(context, node);
    case 'MetaProperty':
      return lowerMetaProperty(context, node);
    default:
      // Literal, PrivateIdentifier (`#x in o`), Super on its own: nothing that flows.
      return NOTHING;
  }
}

function lowerIdentifier(context: LoweringContext, node: es.Identifier): ValueId {
  const variable = context.variableAt(node);
  if (variable !== 0) {
    context.read(variable, offset(node));
    return variable;
  }
  if (node.name === 'undefined' || node.name === 'NaN' || node.name === 'Infinity') return NOTHING;
  if (context.kind === 'commonjs') {
    if (node.name === 'module' || node.name === 'exports') {
      if (node.name === 'exports') context.usesExports = true;
      const own = node.name === 'module' ? context.moduleValue : context.exportsValue;
      context.read(own, offset(node));
      return own;
    }
    if (node.name === '__dirname' || node.name === '__filename') return NOTHING;
  }
  if (node.name === 'eval') context.op(Op.opaque, 0, 0, 0, Opaque.eval, offset(node));
  const value = context.global(node.name);
  context.read(value, offset(node));
  return value;
}

function lowerMember(context: LoweringContext, node: es.MemberExpression): ValueId {
  if (node.object.type === 'Super') return lowerSuperMember(context, node);
  const global = globalNamed(context, node);
  if (global !== null) {
    context.read(global, offset(node));
    return global;
  }
  if (isCallee(context, node)) return context.state.fact.self;
  if (isOfModule(node)) return NOTHING;
  return loadMember(context, node, lowerPlace(context, node));
}

/** What stands to the left is evaluated once, also where it is read and written: `find(() => item).count += 1`. */
function lowerPlace(context: LoweringContext, node: es.MemberExpression): Place {
  const base = lowerExpression(context, node.object);
  return { base, name: propertyName(context, node) };
}

function loadMember(context: LoweringContext, node: es.MemberExpression, { base, name }: Place): ValueId {
  const loaded = context.load(base, name, offset(node));
  if (base !== NOTHING && name === null) noteKey(context, node);
  return loaded;
}

/** Reads what is to be changed, and gives what changes it. */
function lowerTarget(
  context: LoweringContext,
  target: es.Pattern,
): { before: ValueId; write: (value: ValueId) => void } {
  const isPlace = target.type === 'MemberExpression' && target.object.type !== 'Super';
  if (!isPlace || globalNamed(context, target) !== null) {
    const before = lowerExpression(context, target);
    return { before, write: (value) => bindPattern(context, target, value, 'assign') };
  }
  const place = lowerPlace(context, target);
  const before = loadMember(context, target, place);
  return { before, write: (value) => storeMember(context, target, place, value) };
}

export function lowerThis({ facts, state: { fact }, statics }: LoweringContext): ValueId {
  const own = statics.at(-1);
  if (own?.within === fact) return own.self;
  fact.flags |= FunctionFlag.usesThis;
  // An arrow function has that of what it stands in: `static add = () => this.all.push(1)`.
  let outer = fact;
  while ((outer.flags & FunctionFlag.arrow) !== 0 && outer.parent !== -1) outer = facts.fn(outer.parent);
  return own !== undefined && own.within === outer ? own.self : fact.receiver;
}

/** What Node tells a module of itself, and nobody changes: `import.meta.url`. */
function isOfModule({ object, property, computed }: es.MemberExpression): boolean {
  if (object.type !== 'MetaProperty' || object.meta.name !== 'import' || computed) return false;
  return property.type === 'Identifier' && /^(url|dirname|filename|main|resolve)$/.test(property.name);
}

/** `arguments.callee`, the function itself; but of an arrow function's those of the function around it. */
function isCallee({ state }: LoweringContext, { object, property, computed }: es.MemberExpression): boolean {
  if (computed || object.type !== 'Identifier' || object.name !== 'arguments') return false;
  return property.type === 'Identifier' && property.name === 'callee' && (state.fact.flags & FunctionFlag.arrow) === 0;
}

function lowerSuperMember(context: LoweringContext, node: es.MemberExpression): ValueId {
  context.state.fact.flags |= FunctionFlag.usesThis;
  const name = propertyName(context, node);
  const home = context.superclasses.at(-1);
  if (home === undefined) return NOTHING;
  const owner = home.isStatic ? home.value : context.load(home.value, 'prototype', offset(node));
  return context.load(owner, name, offset(node));
}

function lowerCall(context: LoweringContext, node: es.SimpleCallExpression): ValueId {
  const callee = node.callee;
  if (callee.type === 'Super') return lowerSuperCall(context, node);
  const required = lowerRequire(context, node);
  if (required !== null) return required;
  const imported = lowerInterop(context, node);
  if (imported !== null) return imported;
  const decorated = lowerDecorated(context, node);
  if (decorated !== null) return decorated;
  const created = lowerCreatedClass(context, node);
  if (created !== null) return created;
  const target = unwrapChain(callee);
  if (target.type === 'MemberExpression' && target.object.type !== 'Super')
    return lowerMethodCall(context, node, target);
  const value = lowerExpression(context, callee);
  const receiver = target.type === 'MemberExpression' ? lowerThis(context) : NOTHING;
  const call = lowerArguments(context, node.arguments, callee, endOf(node));
  const result = context.facts.newValue();
  context.op(Op.call, value, result, receiver, call, offset(node));
  return result;
}

function unwrapChain(node: es.Node): es.Node {
  return node.type === 'ChainExpression' ? unwrapChain(node.expression) : node;
}

function lowerMethodCall(
  context: LoweringContext,
  node: es.SimpleCallExpression,
  callee: es.MemberExpression,
): ValueId {
  const base = isOfModule(callee) ? NOTHING : lowerExpression(context, callee.object);
  const name = propertyName(context, callee);
  const call = lowerArguments(context, node.arguments, callee, endOf(node));
  const result = context.facts.newValue();
  context.op(Op.method, base, result, name === null ? 0 : context.facts.atom(name), call, offset(node));
  if (name === null) noteKey(context, callee);
  defineAccessors(context, callee, node.arguments, base, call);
  return result;
}

function lowerSuperCall(context: LoweringContext, node: es.SimpleCallExpression): ValueId {
  context.state.fact.flags |= FunctionFlag.usesThis;
  const home = context.superclasses.at(-1);
  const call = lowerArguments(context, node.arguments, node.callee, endOf(node));
  const result = context.facts.newValue();
  if (home !== undefined) context.op(Op.call, home.value, result, context.state.fact.receiver, call, offset(node));
  return context.state.fact.receiver;
}

function lowerNew(context: LoweringContext, node: es.NewExpression): ValueId {
  const callee = lowerExpression(context, node.callee);
  const call = lowerArguments(context, node.arguments, node.callee, endOf(node));
  const result = context.facts.newValue();
  if (node.callee.type === 'Identifier' && node.callee.name === 'Function' && context.variableAt(node.callee) === 0) {
    context.op(Op.opaque, 0, 0, 0, Opaque.eval, offset(node));
  }
  context.op(Op.construct, callee, result, 0, call, offset(node));
  return result;
}

function lowerArguments(context: LoweringContext, nodes: readonly es.Node[], callee: es.Node, end: number): number {
  let spread = -1;
  const args: { value: ValueId; start: number; end: number }[] = [];
  for (const [index, node] of nodes.entries()) {
    let value = lowerExpression(context, node);
    if (node.type === 'SpreadElement' && spread === -1) spread = index;
    else if (node.type === 'SpreadElement') value = context.items(value, offset(node));
    if (value === NOTHING) {
      const text = constantString(context, node);
      if (text !== null && text.length < 200) {
        value = context.facts.newValue();
        context.facts.strings.set(value, context.facts.word(text));
      }
    }
    args.push({ value, start: offset(node), end: endOf(node) });
  }
  return context.call(args, spread, { start: offset(callee), end: endOf(callee) }, end);
}

function lowerObject(context: LoweringContext, node: es.ObjectExpression): ValueId {
  const object = context.object('Object', offset(node));
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') {
      const source = lowerExpression(context, property.argument);
      if (source !== NOTHING) context.op(Op.copyProperties, source, object, 0, 1, offset(property));
      continue;
    }
    const name = keyName(context, property);
    const value = lowerPropertyValue(context, property, name ?? '');
    const accessor = property.kind === 'init' ? '' : `${property.kind} `;
    context.store(object, name === null ? null : accessor + name, value, true, offset(property));
  }
  context.leaveLiteral(node);
  return object;
}

function lowerPropertyValue(context: LoweringContext, property: es.Property, name: string): ValueId {
  const isMethod = property.method || property.kind !== 'init';
  if (!isMethod || property.value.type !== 'FunctionExpression') return lowerExpression(context, property.value, name);
  return lowerFunction(context, property.value, name, FunctionFlag.method | FunctionFlag.inObject, property).self;
}

function lowerArray(context: LoweringContext, node: es.ArrayExpression): ValueId {
  const array = context.object('Array', offset(node));
  for (const element of node.elements) {
    if (element === null) continue;
    let value = lowerExpression(context, element);
    if (element.type === 'SpreadElement') value = context.items(value, offset(element));
    if (value !== NOTHING) context.store(array, null, value, true, offset(element));
  }
  context.leaveLiteral(node);
  return array;
}

function lowerAssignment(context: LoweringContext, node: es.AssignmentExpression): ValueId {
  const left = node.left;
  if (node.operator === '=') {
    const value = lowerExpression(context, node.right, patternName(left) || memberName(left));
    bindPattern(context, left, value, 'assign');
    return value;
  }
  return lowerCompoundAssignment(context, node, left);
}

function lowerCompoundAssignment(context: LoweringContext, node: es.AssignmentExpression, left: es.Pattern): ValueId {
  const logical = node.operator === '||=' || node.operator === '&&=' || node.operator === '??=';
  const { before, write } = lowerTarget(context, left);
  let value = NOTHING;
  const right = (): void => {
    value = lowerExpression(context, node.right, patternName(left) || memberName(left));
  };
  if (logical) context.aside(right);
  else right();
  if (!logical) value = NOTHING;
  write(value);
  if (!logical) return NOTHING;
  const result = context.facts.newValue();
  context.copy(before, result, offset(node));
  context.copy(value, result, offset(node));
  return result;
}

function memberName(node: es.Node): string {
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier') return '';
  return node.property.name === 'exports' ? '' : node.property.name;
}

/** Chains of operators lean left and can be thousands long in generated code: walked by loop. */
function lowerBinary(context: LoweringContext, node: es.BinaryExpression): ValueId {
  const rights: es.Node[] = [];
  let left: es.Node = node;
  while (left.type === 'BinaryExpression') {
    rights.push(left.right);
    left = left.left;
  }
  lowerExpression(context, left);
  for (let index = rights.length - 1; index >= 0; index--) lowerExpression(context, rights[index] as es.Node);
  return NOTHING;
}

function lowerLogical(context: LoweringContext, node: es.LogicalExpression): ValueId {
  const rights: es.Node[] = [];
  let left: es.Node = node;
  while (left.type === 'LogicalExpression') {
    rights.push(left.right);
    left = left.left;
  }
  const result = context.facts.newValue();
  context.copy(lowerExpression(context, left), result, offset(left));
  context.aside(() => {
    for (let index = rights.length - 1; index >= 0; index--) {
      const right = rights[index] as es.Node;
      context.copy(lowerExpression(context, right), result, offset(right));
    }
  });
  return result;
}

function lowerConditional(context: LoweringContext, node: es.ConditionalExpression, name: string): ValueId {
  const result = context.facts.newValue();
  lowerExpression(context, node.test);
  context.aside(() => {
    let branch: es.Expression = node;
    let last = node.test;
    while (branch.type === 'ConditionalExpression') {
      if (branch !== node) lowerExpression(context, branch.test);
      const { test, consequent } = branch;
      const give = (value: es.Expression): void =>
        context.copy(lowerExpression(context, value, name), result, offset(value));
      behindTest(context, test, true, () => give(consequent));
      last = test;
      branch = branch.alternate;
    }
    const rest = branch;
    behindTest(context, last, false, () => context.copy(lowerExpression(context, rest, name), result, offset(rest)));
  });
  return result;
}

function lowerAwait(context: LoweringContext, node: es.AwaitExpression): ValueId {
  const value = lowerExpression(context, node.argument);
  context.state.awaits += 1;
  context.state.lastAwait = { start: offset(node), argument: node.argument };
  const result = value === NOTHING ? NOTHING : context.facts.newValue();
  context.op(Op.await, value, result, 0, 0, offset(node));
  return result;
}

function lowerTemplate(context: LoweringContext, node: es.TemplateLiteral): ValueId {
  for (const expression of node.expressions) lowerExpression(context, expression);
  return NOTHING;
}

function lowerTagged(context: LoweringContext, node: es.TaggedTemplateExpression): ValueId {
  const strings = context.object('Array', offset(node.quasi));
  const tag = unwrapChain(node.tag);
  const base =
    tag.type === 'MemberExpression' && tag.object.type !== 'Super' ? lowerExpression(context, tag.object) : NOTHING;
  const name = tag.type === 'MemberExpression' ? propertyName(context, tag) : null;
  const callee = base === NOTHING ? lowerExpression(context, node.tag) : NOTHING;
  const args = [{ value: strings, start: offset(node.quasi), end: endOf(node.quasi) }];
  for (const expression of node.quasi.expressions) {
    args.push({ value: lowerExpression(context, expression), start: offset(expression), end: endOf(expression) });
  }
  const call = context.call(args, -1, { start: offset(node.tag), end: endOf(node.tag) }, endOf(node));
  const result = context.facts.newValue();
  if (base === NOTHING) context.op(Op.call, callee, result, 0, call, offset(node));
  else context.op(Op.method, base, result, name === null ? 0 : context.facts.atom(name), call, offset(node));
  return result;
}

function lowerUnary(context: LoweringContext, node: es.UnaryExpression): ValueId {
  const argument = unwrapChain(node.argument);
  if (node.operator === 'delete' && argument.type === 'MemberExpression') {
    assignMember(context, argument, NOTHING);
    return NOTHING;
  }
  lowerExpression(context, node.argument);
  return NOTHING;
}

function lowerUpdate(context: LoweringContext, node: es.UpdateExpression): ValueId {
  lowerTarget(context, node.argument as es.Pattern).write(NOTHING);
  return NOTHING;
}

function lowerSequence(context: LoweringContext, node: es.SequenceExpression): ValueId {
  let last = NOTHING;
  for (const expression of node.expressions) last = lowerExpression(context, expression);
  return last;
}

/** `new.target` is the class of what is made; `import.meta`, an object that each module has for itself. */
function lowerMetaProperty(context: LoweringContext, node: es.MetaProperty): ValueId {
  if (node.meta.name !== 'new') {
    context.read(context.metaValue, offset(node));
    return context.metaValue;
  }
  const { fact } = context.state;
  fact.flags |= FunctionFlag.usesThis;
  const result = context.facts.newValue();
  context.copy(context.load(fact.receiver, 'constructor', offset(node)), result, offset(node));
  if ((fact.flags & FunctionFlag.arrow) === 0) context.copy(fact.self, result, offset(node));
  return result;
}

function lowerYield(context: LoweringContext, node: es.YieldExpression): ValueId {
  let value = node.argument == null ? NOTHING : lowerExpression(context, node.argument);
  if (node.delegate) value = context.items(value, offset(node));
  if (value !== NOTHING) context.op(Op.return, value, 0, 0, 0, offset(node));
  // What `next(x)` sends is not followed: it may be anything that is thrown around.
  if (!node.delegate) return context.facts.thrown;
  // What the other one returns, which is among what it gives.
  const result = context.facts.newValue();
  context.copy(context.facts.thrown, result, offset(node));
  context.copy(value, result, offset(node));
  return result;
}

function typeOfRegExp(flags: string): string {
  if (flags.includes('y')) return 'StickyRegExp';
  return flags.includes('g') ? 'StatefulRegExp' : 'RegExp';
}
