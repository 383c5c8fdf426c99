/**
 * Statements. On the straight line of an async function (its body, and the blocks of `try` statements on that line) each
 * statement with an `await` ends a segment: the function can be cut behind it. A `try` with a `finally` stays whole.
 */
import type * as es from 'estree';
import { type AwaitForm, FunctionFlag, NOTHING, Op, Opaque, type ValueId, VariableKind } from '../facts.js';
import { constantString } from './constants.js';
import { endOf, type LoweringContext, offset } from './context.js';
import { lowerExpression } from './expressions.js';
import { lowerClass, lowerFunction } from './functions.js';
import { behindExit, behindTest } from './guards.js';
import { lowerExportDeclaration, lowerImport } from './modules.js';
import { bindPattern, patternName } from './patterns.js';
import { isOfEnvironment, isPlain } from './plain.js';

export type Statement = es.Statement | es.ModuleDeclaration | es.Directive;

/** A function's body: the straight line begins here. */
export function lowerBody(context: LoweringContext, body: readonly Statement[]): void {
  if ((context.state.fact.flags & FunctionFlag.async) === 0) context.state.straight = false;
  lowerLine(context, body, false);
}

export function lowerStatements(context: LoweringContext, body: readonly Statement[], inBlock = true): void {
  for (const statement of body) hoist(context, statement, inBlock);
  const { guard } = context.state;
  for (const each of body) {
    const statement = context.statementOf(each);
    lowerStatement(context, statement);
    behindExit(context, statement);
  }
  context.state.guard = guard;
}

/** Function declarations exist before the first statement runs. */
function hoist(context: LoweringContext, statement: Statement, inBlock: boolean): void {
  const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (node?.type === 'FunctionDeclaration') declareFunction(context, node, inBlock);
  if (statement.type === 'ExportDefaultDeclaration' && statement.declaration.type === 'FunctionDeclaration') {
    if (statement.declaration.id) declareFunction(context, statement.declaration as es.FunctionDeclaration, false);
  }
}

function declareFunction(context: LoweringContext, node: es.FunctionDeclaration, inBlock: boolean): void {
  const variable = context.variableAt(node.id);
  const fact = lowerFunction(context, node, node.id.name, 0);
  // In sloppy mode a function declared in a block is a variable of the function around it as well, which scope analysis
  // leaves unresolved.
  if (inBlock && context.kind === 'commonjs') context.copy(fact.self, context.global(node.id.name), offset(node));
  if (variable === 0) return;
  context.placeVariable(variable);
  context.copy(fact.self, variable, offset(node));
}

/** `followed`: something runs behind the last of these statements. */
function lowerLine(context: LoweringContext, body: readonly Statement[], followed: boolean): void {
  if (!context.state.straight) {
    lowerStatements(context, body, false);
    return;
  }
  for (const statement of body) hoist(context, statement, false);
  const last = body.findLastIndex(isExecuted);
  for (const [index, statement] of body.entries()) {
    const more = followed || index < last;
    if (statement.type === 'TryStatement' && statement.finalizer == null) lowerTryOnLine(context, statement, more);
    else lowerStatementOnLine(context, statement, more);
  }
}

function isExecuted(statement: Statement): boolean {
  return statement.type !== 'FunctionDeclaration' && statement.type !== 'EmptyStatement';
}

function lowerStatementOnLine(context: LoweringContext, statement: Statement, more: boolean): void {
  const state = context.state;
  const before = state.awaits;
  const simple = simpleAwait(statement);
  if (simple !== null) {
    lowerExpressionStatementWithAwait(context, statement, simple, more);
    return;
  }
  // What is inside a compound statement is not on the line; what it awaits keeps it whole.
  const compound = statement.type !== 'ExpressionStatement' && statement.type !== 'VariableDeclaration';
  if (compound) context.aside(() => lowerStatement(context, statement));
  else lowerStatement(context, statement);
  if (state.awaits === before || !more || statement.type === 'ReturnStatement') return;
  const last = state.lastAwait;
  if (last === null) return;
  pushCut(context, statement, 'inside', last.start, last.argument, null, more);
}

const mostCuts = 200;

interface SimpleAwait {
  readonly node: es.AwaitExpression;
  readonly target: es.Pattern | null;
  readonly form: AwaitForm;
}

function simpleAwait(statement: Statement): SimpleAwait | null {
  if (statement.type === 'VariableDeclaration' && statement.declarations.length === 1) {
    const declarator = statement.declarations[0];
    if (declarator?.init?.type === 'AwaitExpression') {
      return { node: declarator.init, target: declarator.id, form: 'declaration' };
    }
  }
  if (statement.type !== 'ExpressionStatement') return null;
  const expression = statement.expression;
  if (expression.type === 'AwaitExpression') return { node: expression, target: null, form: 'statement' };
  if (
    expression.type === 'AssignmentExpression' &&
    expression.operator === '=' &&
    expression.right.type === 'AwaitExpression'
  ) {
    if (expression.left.type === 'Identifier')
      return { node: expression.right, target: expression.left, form: 'assignment' };
  }
  return null;
}

function lowerExpressionStatementWithAwait(
  context: LoweringContext,
  statement: Statement,
  simple: SimpleAwait,
  more: boolean,
): void {
  const value = lowerExpression(context, simple.node);
  if (more || simple.form === 'assignment') {
    pushCut(context, statement, simple.form, offset(simple.node), simple.node.argument, simple.target, more);
  }
  if (simple.target === null) return;
  bindPattern(context, simple.target, value, simple.form === 'assignment' ? 'assign' : 'declare');
}

function pushCut(
  context: LoweringContext,
  statement: Statement,
  form: AwaitForm,
  awaitStart: number,
  argument: es.Expression | null,
  target: es.Pattern | null,
  more: boolean,
): void {
  // Code with hundreds of awaits in one function is generated, and nobody runs it on several loops.
  if (context.state.fact.cuts.length >= mostCuts) return;
  const callee = argument === null ? null : awaitedCallee(argument);
  context.cut({
    form,
    insideLoop: form === 'inside' && /^(For|While|DoWhile)/.test(statement.type),
    awaitStart,
    statementStart: offset(statement),
    statementEnd: endOf(statement),
    targetStart: target === null ? 0 : offset(target),
    targetEnd: target === null ? 0 : endOf(target),
    argumentStart: argument === null ? awaitStart : offset(argument),
    argumentEnd: argument === null ? awaitStart : endOf(argument),
    calleeStart: callee === null ? 0 : offset(callee),
    calleeEnd: callee === null ? 0 : endOf(callee),
    tries: context.state.tries,
    last: !more,
  });
}

function awaitedCallee(argument: es.Expression): es.Node | null {
  if (argument.type === 'CallExpression' || argument.type === 'NewExpression') return argument.callee;
  return argument.type === 'ChainExpression' ? awaitedCallee(argument.expression) : null;
}

function lowerTryOnLine(context: LoweringContext, node: es.TryStatement, more: boolean): void {
  const state = context.state;
  const from = state.segment;
  const tries = state.tries;
  state.tries = [...tries, { start: offset(node), blockEnd: endOf(node.block), end: endOf(node) }];
  state.trying += 1;
  lowerLine(context, node.block.body, more);
  state.trying -= 1;
  state.tries = tries;
  // A failure before or behind a cut ends in the same handler, so its code may run in any of these segments.
  const segmentFrom = state.segmentFrom;
  state.segmentFrom = from;
  context.aside(() => lowerHandlers(context, node));
  state.segmentFrom = segmentFrom;
}

function lowerHandlers(context: LoweringContext, node: es.TryStatement): void {
  if (node.handler) {
    if (node.handler.param) bindPattern(context, node.handler.param, context.facts.thrown, 'declare');
    lowerStatements(context, node.handler.body.body);
  }
  if (node.finalizer) lowerStatements(context, node.finalizer.body);
}

export function lowerStatement(context: LoweringContext, node: Statement): void {
  switch (node.type) {
    case 'ExpressionStatement':
      lowerExpression(context, node.expression);
      return;
    case 'VariableDeclaration':
      return lowerVariableDeclaration(context, node);
    case 'ReturnStatement':
      return lowerReturn(context, node);
    case 'IfStatement':
      return lowerIf(context, node);
    case 'BlockStatement':
      return lowerStatements(context, node.body);
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
      return lowerLoop(context, node);
    case 'TryStatement':
      context.aside(() => {
        context.state.trying += 1;
        lowerStatements(context, node.block.body);
        context.state.trying -= 1;
        lowerHandlers(context, node);
      });
      return;
    case 'SwitchStatement':
      return lowerSwitch(context, node);
    case 'ThrowStatement':
      return lowerThrow(context, node);
    case 'LabeledStatement':
      return lowerStatement(context, node.body);
    case 'WithStatement':
      lowerExpression(context, node.object);
      context.op(Op.opaque, 0, 0, 0, Opaque.with, offset(node));
      context.aside(() => lowerStatement(context, node.body));
      return;
    case 'ClassDeclaration':
      bindClass(context, node);
      return;
    case 'ImportDeclaration':
      return lowerImport(context, node);
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
    case 'ExportAllDeclaration':
      return lowerExportDeclaration(context, node);
    default:
      // Function declarations were hoisted; Empty, Break, Continue, Debugger carry no values.
      return;
  }
}

export function bindClass(context: LoweringContext, node: es.ClassDeclaration): ValueId {
  const value = lowerClass(context, node, node.id.name);
  const variable = context.variableAt(node.id);
  if (variable !== 0) {
    context.placeVariable(variable);
    context.copy(value, variable, offset(node));
  }
  return variable === 0 ? value : variable;
}

export function lowerVariableDeclaration(context: LoweringContext, node: es.VariableDeclaration): void {
  for (const declarator of node.declarations) {
    const init = declarator.init;
    if (init == null) {
      bindPattern(context, declarator.id, NOTHING, 'declare');
      continue;
    }
    const value = lowerExpression(context, init, patternName(declarator.id));
    const plain = declarator.id.type === 'Identifier' ? notePlain(context, node.kind, declarator.id, init) : 'no';
    // `var x = 1` in a loop or behind other code assigns again each time it is reached.
    bindPattern(context, declarator.id, plain === 'yes' ? NOTHING : value, 'declare');
    if (plain === 'by environment') noteOfEnvironment(context, context.variableAt(declarator.id));
  }
}

/** Whether what it is given is no object; by its environment, if the program leaves that as it is. */
function notePlain(
  context: LoweringContext,
  kind: es.VariableDeclaration['kind'],
  id: es.Identifier,
  init: es.Expression,
): 'yes' | 'no' | 'by environment' {
  const variable = context.variableAt(id);
  const text = kind === 'const' ? noteConstant(context, variable, init) : null;
  if (variable === 0 || (text === null && !isPlain(context, init))) return 'no';
  const byEnvironment = text === null && isOfEnvironment(context, init);
  const isOnlyThis = context.facts.variables.get(variable)?.kind === VariableKind.local && !context.bound.has(variable);
  if (isOnlyThis && kind === 'const') {
    context.plainConstants.add(variable);
    if (byEnvironment) context.environmentConstants.add(variable);
  }
  if (byEnvironment) return isOnlyThis ? 'by environment' : 'no';
  if (isOnlyThis) context.facts.plain.add(variable);
  return 'yes';
}

/** It has just been bound. */
function noteOfEnvironment({ facts }: LoweringContext, variable: ValueId): void {
  const op = facts.kind.length - 1;
  if (facts.kind.get(op) === Op.copy && facts.b.get(op) === variable) facts.ofEnvironment.set(variable, op);
}

function noteConstant(context: LoweringContext, variable: ValueId, init: es.Expression): string | null {
  if (init.type === 'CallExpression' && calleeEnds(init.callee, 'createRequire'))
    context.requireVariables.add(variable);
  const text = constantString(context, init);
  if (text !== null) context.constants.set(variable, text);
  return text;
}

function calleeEnds(callee: es.Node, name: string): boolean {
  if (callee.type === 'Identifier') return callee.name === name;
  return callee.type === 'MemberExpression' && !callee.computed && calleeEnds(callee.property, name);
}

function lowerReturn(context: LoweringContext, node: es.ReturnStatement): void {
  if (node.argument == null) return;
  const value = lowerExpression(context, node.argument);
  if (value !== NOTHING) context.op(Op.return, value, 0, 0, 0, offset(node));
}

function lowerThrow(context: LoweringContext, node: es.ThrowStatement): void {
  const value = lowerExpression(context, node.argument);
  const { facts, state } = context;
  if (node.argument.type === 'NewExpression') return context.copy(value, facts.thrownNew, offset(node));
  if (state.fact.parent !== -1 || state.trying > 0) return context.copy(value, facts.thrown, offset(node));
  if (context.uncaught === NOTHING) context.uncaught = facts.newValue();
  context.copy(value, context.uncaught, offset(node));
}

/** `else if` chains can be thousands long in generated code: walked by loop. */
function lowerIf(context: LoweringContext, node: es.IfStatement): void {
  let current: es.Statement | null | undefined = node;
  let last = node;
  while (current?.type === 'IfStatement') {
    const branch: es.IfStatement = current;
    lowerExpression(context, branch.test);
    context.aside(() => behindTest(context, branch.test, true, () => lowerBranch(context, branch.consequent)));
    last = branch;
    current = branch.alternate;
  }
  const rest = current;
  if (rest) context.aside(() => behindTest(context, last.test, false, () => lowerBranch(context, rest)));
}

/** A sloppy-mode `if (x) function f() {}` declares f as well. */
function lowerBranch(context: LoweringContext, node: es.Statement): void {
  if (node.type === 'FunctionDeclaration') declareFunction(context, node, true);
  else lowerStatement(context, node);
}

function lowerSwitch(context: LoweringContext, node: es.SwitchStatement): void {
  lowerExpression(context, node.discriminant);
  context.aside(() => {
    for (const branch of node.cases) for (const statement of branch.consequent) hoist(context, statement, true);
    for (const branch of node.cases) {
      if (branch.test) lowerExpression(context, branch.test);
      for (const statement of branch.consequent) lowerStatement(context, statement);
    }
  });
}

type Loop = es.ForStatement | es.ForInStatement | es.ForOfStatement | es.WhileStatement | es.DoWhileStatement;

function lowerLoop(context: LoweringContext, node: Loop): void {
  if (node.type === 'ForStatement' && node.init) {
    if (node.init.type === 'VariableDeclaration') lowerVariableDeclaration(context, node.init);
    else lowerExpression(context, node.init);
  }
  const source =
    node.type === 'ForOfStatement' || node.type === 'ForInStatement' ? lowerExpression(context, node.right) : NOTHING;
  context.inLoop(() => {
    if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') {
      lowerLoopVariable(context, node, source);
    } else {
      if (node.test) lowerExpression(context, node.test);
      if (node.type === 'ForStatement' && node.update) lowerExpression(context, node.update);
    }
    lowerBranch(context, node.body);
  });
}

function lowerLoopVariable(
  context: LoweringContext,
  node: es.ForOfStatement | es.ForInStatement,
  source: ValueId,
): void {
  let item = NOTHING;
  if (node.type === 'ForOfStatement') {
    item = context.items(source, offset(node));
    if (node.await) {
      context.state.awaits += 1;
      context.state.lastAwait = { start: offset(node), argument: node.right };
      context.op(Op.await, NOTHING, NOTHING, 0, 0, offset(node));
    }
  }
  if (node.left.type !== 'VariableDeclaration') {
    bindPattern(context, node.left, item, 'assign');
    return;
  }
  const declarator = node.left.declarations[0];
  if (declarator !== undefined) bindPattern(context, declarator.id, item, 'declare');
}
