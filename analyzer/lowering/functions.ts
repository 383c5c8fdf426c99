/**
 * Functions and classes.
 */
import type * as es from 'estree';
import { type FunctionFact, FunctionFlag, NOTHING, Op, type ValueId, VariableKind } from '../facts.js';
import { endOf, type LoweringContext, offset } from './context.js';
import { lowerExpression } from './expressions.js';
import { passesArgumentsOn } from './passed-on.js';
import { bindPattern, keyName } from './patterns.js';
import { lowerBody, lowerStatements } from './statements.js';

export function lowerFunction(
  context: LoweringContext,
  node: es.Function,
  name: string,
  flags: number,
  span: es.Node = node,
): FunctionFact {
  const own = 'id' in node && node.id ? node.id.name : '';
  context.enter(node);
  const body = node.body;
  const fact = context.newFunction(
    {
      start: offset(span),
      end: endOf(span),
      bodyStart: offset(body),
      bodyEnd: endOf(body),
      name: own || name,
      flags: flags | functionFlags(node),
    },
    context.state,
  );
  context.facts.seeds.push({ kind: 'function', value: fact.self, fn: fact.id, guard: context.state.guard });
  context.inside(fact, () => {
    context.declareVariables(node, fact);
    bindOwnName(context, node, fact);
    bindParameters(context, node.params, fact);
    bindArguments(context, node, fact);
    if ('isRestored' in node) context.state.straight = false;
    if (body.type === 'BlockStatement') lowerBody(context, body.body);
    else lowerConciseBody(context, body);
  });
  context.leave(node);
  return fact;
}

function lowerConciseBody(context: LoweringContext, body: es.Expression): void {
  const value = lowerExpression(context, body);
  if (value !== NOTHING) context.op(Op.return, value, 0, 0, 0, offset(body));
}

function functionFlags(node: es.Function): number {
  let flags = 0;
  if (node.async) flags |= FunctionFlag.async;
  if (node.generator) flags |= FunctionFlag.generator;
  if (node.type === 'ArrowFunctionExpression') flags |= FunctionFlag.arrow;
  return flags;
}

/** A named function expression sees itself under its name. */
function bindOwnName(context: LoweringContext, node: es.Function, fact: FunctionFact): void {
  if (node.type !== 'FunctionExpression' || !node.id) return;
  const variable = context.variableAt(node.id);
  if (variable !== 0) context.copy(fact.self, variable, offset(node));
}

function bindParameters(context: LoweringContext, params: readonly es.Pattern[], fact: FunctionFact): void {
  const first = params.findIndex(({ type }) => type === 'AssignmentPattern' || type === 'RestElement');
  fact.arity = first === -1 ? params.length : first;
  const values: ValueId[] = [];
  for (const [index, param] of params.entries()) {
    if (param.type === 'RestElement') fact.rest = index;
    const plain = param.type === 'RestElement' ? param.argument : param;
    if (plain.type === 'Identifier') {
      values.push(context.variableAt(plain));
    } else {
      const value = context.facts.newValue();
      values.push(value);
      bindPattern(context, plain, value, 'declare');
    }
  }
  // A list that has grown keeps room for many more.
  if (values.length > 0) fact.params = values.slice();
}

/** `arguments` holds what the parameters hold; whatever is reached through it may be any of them. */
function bindArguments(context: LoweringContext, node: es.Function, fact: FunctionFact): void {
  if ((fact.flags & FunctionFlag.usesArguments) === 0) return;
  const staysAsGiven = passesArgumentsOn(node);
  if (staysAsGiven) fact.flags |= FunctionFlag.passesArgumentsOn;
  for (let value = fact.valueStart; value < context.facts.valueCount; value++) {
    const variable = context.facts.variables.get(value);
    if (variable?.kind !== VariableKind.arguments || variable.owner !== fact.id) continue;
    const list = context.object('Arguments', fact.start);
    fact.list = list;
    context.copy(list, value, fact.start);
    for (const param of fact.params) {
      context.store(list, null, param, true, fact.start);
      if (!staysAsGiven) context.copy(context.load(value, null, fact.start), param, fact.start);
    }
  }
}

// -------------------------------------------------------------------------------------------------- classes

export function lowerClass(context: LoweringContext, node: es.Class, name: string): ValueId {
  const superclass = node.superClass ? lowerExpression(context, node.superClass) : NOTHING;
  const own = node.body.body.find(isConstructor);
  const className = node.id?.name ?? name;
  context.superclasses.push({ value: superclass, isStatic: false });
  const fact = lowerConstructor(context, node, own, className);
  context.facts.seeds.push({ kind: 'function', value: fact.self, fn: fact.id, guard: context.state.guard });
  context.facts.classes.set(fact.id, { superclass });
  context.copy(fact.self, context.innerName(node), offset(node));
  lowerMembers(context, node, fact);
  context.superclasses.pop();
  return fact.self;
}

function isConstructor(member: es.Node): member is es.MethodDefinition {
  return member.type === 'MethodDefinition' && member.kind === 'constructor';
}

/** The constructor, with the instance fields that it fills in before its own code. */
function lowerConstructor(
  context: LoweringContext,
  node: es.Class,
  own: es.MethodDefinition | undefined,
  name: string,
): FunctionFact {
  const code = own?.value;
  if (code !== undefined) context.enter(code);
  const fact = context.newFunction(
    {
      start: offset(node),
      end: endOf(node),
      bodyStart: offset(code?.body ?? node.body),
      bodyEnd: endOf(code?.body ?? node.body),
      name,
      flags: FunctionFlag.classConstructor | FunctionFlag.usesThis,
    },
    context.state,
  );
  context.inside(fact, () => {
    if (code !== undefined) {
      context.declareVariables(code, fact);
      bindParameters(context, code.params, fact);
      bindArguments(context, code, fact);
    }
    context.state.straight = false;
    lowerFields(context, node, fact);
    if (code !== undefined) lowerStatements(context, code.body.body, false);
    else if (node.superClass) passToSuper(context, node, fact);
  });
  if (code !== undefined) context.leave(code);
  return fact;
}

/** Without a constructor of its own a subclass hands everything to its superclass. */
function passToSuper(context: LoweringContext, node: es.Class, fact: FunctionFact): void {
  const home = context.superclasses.at(-1);
  if (home === undefined || home.value === NOTHING) return;
  fact.list = context.object('Arguments', fact.start);
  const place = { start: offset(node), end: offset(node) };
  const call = context.call([{ value: fact.list, ...place }], 0, place, endOf(node));
  context.op(Op.call, home.value, context.facts.newValue(), context.state.fact.receiver, call, offset(node));
}

function lowerFields(context: LoweringContext, node: es.Class, fact: FunctionFact): void {
  for (const member of node.body.body) {
    if (member.type !== 'PropertyDefinition' || member.static) continue;
    const name = keyName(context, member);
    const value = member.value ? lowerExpression(context, member.value, name ?? '') : NOTHING;
    context.store(fact.receiver, name, value, true, offset(member));
  }
}

function lowerMembers(context: LoweringContext, node: es.Class, fact: FunctionFact): void {
  const prototype = context.load(fact.self, 'prototype', offset(node));
  for (const member of node.body.body) {
    const home = context.superclasses.at(-1);
    if (home !== undefined && 'static' in member) context.superclasses.push({ ...home, isStatic: member.static });
    switch (member.type) {
      case 'MethodDefinition':
        lowerMethod(context, member, member.static ? fact.self : prototype);
        break;
      case 'PropertyDefinition':
        if (member.static) withStatic(context, fact, () => lowerStaticField(context, member, fact));
        break;
      case 'StaticBlock':
        withStatic(context, fact, () => context.aside(() => lowerStatements(context, member.body)));
        break;
    }
    if (home !== undefined && 'static' in member) context.superclasses.pop();
  }
}

function withStatic(context: LoweringContext, { self }: FunctionFact, body: () => void): void {
  context.statics.push({ within: context.state.fact, self });
  body();
  context.statics.pop();
}

function lowerMethod(context: LoweringContext, member: es.MethodDefinition, owner: ValueId): void {
  if (member.kind === 'constructor') return;
  const name = keyName(context, member);
  const method = lowerFunction(context, member.value, name ?? '', FunctionFlag.method, member);
  const accessor = member.kind === 'method' ? '' : `${member.kind} `;
  context.store(owner, name === null ? null : accessor + name, method.self, true, offset(member));
}

function lowerStaticField(context: LoweringContext, member: es.PropertyDefinition, fact: FunctionFact): void {
  const name = keyName(context, member);
  const value = member.value ? lowerExpression(context, member.value, name ?? '') : NOTHING;
  context.store(fact.self, name, value, true, offset(member));
}
