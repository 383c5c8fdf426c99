/**
 * What TypeScript makes of an async function for ES5: the steps of a generator, each with a number.
 *
 *     return __generator(this, function (_a) {
 *       switch (_a.label) {
 *         case 0: return [4, find(id)];                        a value is waited for
 *         case 1: user = _a.sent(); if (!user) return [3, 3];  what came of it; on with another step
 *         case 2: return [2, user.name];                       the end
 *         …
 *
 * Reads:   the function of the steps, and a name that is free.
 * Gives:   the same function as an async one, which goes through its steps in a loop: in whatever order, it does what they do.
 */
import type * as es from 'estree';
import { at, become, identifier, isNode, nodesIn } from './restore-helpers.js';

type Steps = es.FunctionExpression;

/** False where there is more in it than such steps; then nothing of it has changed. */
export function restoreSteps(steps: Steps, free: string): boolean {
  const [param, ...others] = steps.params;
  if (others.length > 0 || (param !== undefined && param.type !== 'Identifier')) return false;
  const state = param?.type === 'Identifier' ? param.name : null;
  const handlers = state === null ? new Set<object>() : listHandlers(steps.body, state);
  const edits: (() => void)[] = [];
  let uses = 0;
  const waiting: object[] = [steps.body];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (isNode(value)) {
      if (value.type === 'Identifier' && value.name === state) uses += 1;
      if (isFunction(value) && state !== null && mentions(value, state)) return false;
      if (isFunction(value)) continue;
      const known = editOf(value, state, handlers.has(value) ? caughtAs(free) : free);
      if (known === null) return false;
      if (known.edit !== null) edits.push(known.edit);
      uses -= known.uses;
    }
    for (const below of Object.values(value)) if (typeof below === 'object' && below !== null) waiting.push(below);
  }
  if (uses !== 0) return false;
  for (const edit of edits) edit();
  steps.params = [];
  steps.body = loopOver(steps.body, free);
  return true;
}

/** What stands in steps that handle an error: there it is what they are told. `_a.trys.push([first, handler, finalizer, end])` */
function listHandlers(body: es.BlockStatement, state: string): Set<object> {
  const all = [...nodesIn(body)];
  const labels = new Set<unknown>();
  for (const node of all) {
    if (node.type !== 'CallExpression' || !isBookkeeping(node, state)) continue;
    const [list] = node.arguments;
    const handler = list?.type === 'ArrayExpression' ? list.elements[1] : null;
    if (handler?.type === 'Literal') labels.add(handler.value);
  }
  const found = new Set<object>();
  for (const node of all) {
    if (node.type !== 'SwitchStatement' || !isMemberOf(node.discriminant, state, 'label')) continue;
    for (const step of node.cases) {
      if (step.test?.type !== 'Literal' || !labels.has(step.test.value)) continue;
      for (const inner of nodesIn(step)) found.add(inner);
    }
  }
  return found;
}

function caughtAs(free: string): string {
  return `${free}Error`;
}

interface Known {
  /** How often it names the state of the generator. */
  readonly uses: number;
  readonly edit: (() => void) | null;
}

const NOTHING_TO_DO: Known = { uses: 0, edit: null };

/** Null for what ends a step in another way. */
function editOf(node: es.Node, state: string | null, free: string): Known | null {
  switch (node.type) {
    case 'ReturnStatement':
      return editOfReturn(node, free);
    case 'ExpressionStatement':
      // `_a.label = 1;` and `_a.trys.push([1, 3, , 4]);`
      return isBookkeeping(node.expression, state) ? { uses: 1, edit: () => become(node, empty(node)) } : NOTHING_TO_DO;
    case 'SwitchStatement': {
      const { discriminant } = node;
      if (!isMemberOf(discriminant, state, 'label')) return NOTHING_TO_DO;
      return { uses: 1, edit: () => become(discriminant, at(discriminant, { type: 'Literal', value: 0, raw: '0' })) };
    }
    case 'CallExpression':
      if (node.arguments.length > 0 || !isMemberOf(node.callee, state, 'sent')) return NOTHING_TO_DO;
      return { uses: 1, edit: () => become(node, identifier(node, free)) };
    default:
      return NOTHING_TO_DO;
  }
}

function editOfReturn(node: es.ReturnStatement, free: string): Known | null {
  if (node.argument?.type !== 'ArrayExpression') return null;
  const [kind, value, ...others] = node.argument.elements;
  if (kind?.type !== 'Literal' || value?.type === 'SpreadElement' || others.length > 0) return null;
  switch (kind.value) {
    case 2:
      return { uses: 0, edit: () => become(node, at(node, { type: 'ReturnStatement', argument: value ?? null })) };
    case 3:
      return { uses: 0, edit: () => become(node, at(node, { type: 'ContinueStatement', label: null })) };
    case 4:
      return { uses: 0, edit: () => become(node, value ? waitFor(node, value, free) : empty(node)) };
    case 7:
      return { uses: 0, edit: () => become(node, empty(node)) };
    default:
      return null;
  }
}

/** What comes of it is what the next step is told. */
function waitFor(node: es.Node, argument: es.Expression, free: string): es.Statement {
  const awaited = at(node, { type: 'AwaitExpression', argument });
  return assign(node, identifier(node, free), awaited);
}

function loopOver(body: es.BlockStatement, free: string): es.BlockStatement {
  const names = [free, caughtAs(free)];
  const declared = at(body, {
    type: 'VariableDeclaration',
    kind: 'var',
    declarations: names.map((name) => at(body, { type: 'VariableDeclarator', id: identifier(body, name), init: null })),
  });
  const caught = `${free}Caught`;
  const keep = assign(body, identifier(body, caughtAs(free)), identifier(body, caught));
  const handler = at(body, {
    type: 'CatchClause',
    param: identifier(body, caught),
    body: at(body, { type: 'BlockStatement', body: [keep] }),
  });
  const block = at(body, { type: 'BlockStatement', body: [] });
  const failed = at(body, { type: 'TryStatement', block, handler, finalizer: null });
  const loop = at(body, { type: 'ForStatement', init: null, test: null, update: null, body: { ...body } });
  return at(body, { type: 'BlockStatement', body: [declared, failed, loop] });
}

function assign(node: es.Node, left: es.Identifier, right: es.Expression): es.ExpressionStatement {
  const expression = at(node, { type: 'AssignmentExpression', operator: '=', left, right });
  return at(node, { type: 'ExpressionStatement', expression });
}

function empty(node: es.Node): es.EmptyStatement {
  return at(node, { type: 'EmptyStatement' });
}

function isBookkeeping(node: es.Node, state: string | null): boolean {
  if (node.type === 'AssignmentExpression')
    return isMemberOf(node.left, state, 'label') && node.right.type === 'Literal' && node.operator === '=';
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object, property, computed } = node.callee;
  return !computed && property.type === 'Identifier' && property.name === 'push' && isMemberOf(object, state, 'trys');
}

function isMemberOf(node: es.Node, state: string | null, name: string): boolean {
  if (node.type !== 'MemberExpression' || node.computed || node.object.type !== 'Identifier') return false;
  return node.object.name === state && node.property.type === 'Identifier' && node.property.name === name;
}

function isFunction(node: es.Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

function mentions(node: es.Node, name: string): boolean {
  for (const inner of nodesIn(node)) if (inner.type === 'Identifier' && inner.name === name) return true;
  return false;
}
