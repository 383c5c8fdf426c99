/**
 * Reads: a syntax tree.
 * Gives: its variables, by the functions that they belong to, and which of them each identifier means.
 *
 * A scope is closed when all of it has been seen, as a name may be declared behind its use. Names that wait for a declaration
 * are on one stack for all scopes: those of a scope are the ones above the place where the stack was when it began, and what
 * the scope does not declare stays there for the one around it. So a scope without declarations costs nothing.
 *
 *     function f(a) {          a: 1, in f
 *       return () => a + b;    a means 1, which is captured; b stays on the stack, and is a global in the end
 *     }
 */
import type * as es from 'estree';
import { BoundVariable, type Definition, type NameScope, nowhere, Scope } from './name-scopes.js';
import type { Offsets, SourceType } from './parser.js';
import {
  BodyPiece,
  type Declared,
  type FreeName,
  LiteralPiece,
  type Piece,
  PieceFlag,
  type Pieces,
  StatementPiece,
} from './pieces.js';

export interface Names {
  /** Somebody is about to look into this function; of a large module, its tree is made now. */
  enter(node: es.Function): void;
  /** The statement itself, where this stands for it. */
  statementOf(node: es.Node): es.Node;
  /** Scopes of a function that has been entered (or of the module, by its tree), from the outside. */
  scopesOf(node: es.Node): readonly NameScope[];
  /** Nobody asks for these scopes any more. */
  forget(node: es.Node): void;
}

/** `numberAt`: zeros, one for each offset; identifiers get the number of the variable that they mean. */
export function bindNames(tree: es.Program, kind: SourceType, numberAt: Int32Array): Names {
  const binder = new Binder(numberAt, null);
  binder.bindProgram(tree, kind);
  return {
    enter: () => {},
    statementOf: (node) => node,
    scopesOf: (node) => binder.scopes.get(node) ?? noScopes,
    forget: (node) => void binder.scopes.delete(node),
  };
}

export const noScopes: readonly NameScope[] = [];

function startOf(node: es.Node): number {
  return (node as unknown as Offsets).start;
}

type Nodes = readonly (es.Node | null | undefined)[];

/** A name that a piece uses, by the place where the piece begins. */
class PieceUse implements es.Identifier {
  readonly type = 'Identifier';
  readonly name: string;
  readonly start: number;

  constructor(name: string, start: number) {
    this.name = name;
    this.start = start;
  }
}

/** What a piece has of what is around it. */
export interface Summary {
  readonly flags: number;
  readonly names: readonly FreeName[];
  /** Of a statement. */
  readonly declares: readonly Declared[];
}

/** Stands for what is around a piece that is looked at by itself. */
const outside: es.EmptyStatement = { type: 'EmptyStatement' };

export class Binder {
  readonly scopes = new Map<es.Node, Scope[]>();
  variableCount = 0;
  /** Null where nobody will ask. */
  readonly #numberAt: Int32Array | null;
  readonly #pieces: Pieces | null;
  /** Names that wait for their declaration. */
  readonly #waiting: es.Identifier[] = [];
  /** Each of them, 1 once it has been carried out of a function. */
  readonly #crossed: number[] = [];
  #scope!: Scope;
  #scopeCount = 0;
  /** By what is looked at by itself, around it. */
  #declared: Declared[] = [];

  /** `pieces`: those that nodes of a large module stand for. */
  constructor(numberAt: Int32Array | null, pieces: Pieces | null) {
    this.#numberAt = numberAt;
    this.#pieces = pieces;
  }

  bindProgram(tree: es.Program, kind: SourceType): void {
    this.#open(true, tree, null, 0);
    // Node runs CommonJS in a function.
    if (kind === 'commonjs') this.#declareArguments();
    this.#visitAll(tree.body);
    this.#close();
  }

  // ------------------------------------------------------------------------------------------------- pieces

  /** Of a function, an expression or a statement, by itself; null where it cannot be a piece, as the function around it has part in it. */
  summarise(node: es.Node): Summary | null {
    this.#startAnew();
    this.scopes.clear();
    this.#scopeCount = 0;
    this.#open(true, outside, null, 0);
    const around = this.#scope;
    this.#openBlock();
    const block = this.#scope;
    this.#visitApart(node);
    // Blocks and classes have names of their own, which belong to the function around.
    if (this.scopes.get(outside)?.some((scope) => scope !== around && scope !== block)) return null;
    const declares = this.#declared;
    this.#declared = [];
    if (declares.length > 0 && !isStatement(node)) return null;
    const crossedBy = new Map<string, boolean>();
    for (let index = 0; index < this.#waiting.length; index++) {
      const { name } = this.#waiting[index] as es.Identifier;
      if (name === 'arguments') return null;
      if (this.#crossed[index] === 1 || !crossedBy.has(name)) crossedBy.set(name, this.#crossed[index] === 1);
    }
    const flags = (around.dynamic ? PieceFlag.evaluates : 0) | (block.dynamic ? PieceFlag.evaluatesWithin : 0);
    return { flags, names: [...crossedBy].map(([name, isCrossed]) => ({ name, isCrossed })), declares };
  }

  /** What is new of a piece. All that is around it has been bound, and knows what the piece uses of it. */
  bindWithin(scope: Scope, nodes: Nodes): void {
    this.#startAnew();
    this.#scope = scope;
    for (const node of nodes) if (node != null) this.#visitApart(node);
    for (const node of this.#waiting) {
      if (node instanceof PieceUse) continue;
      const variable = meaningOf(node, scope);
      if (variable !== null) this.#setNumber(node, variable);
    }
  }

  #startAnew(): void {
    this.#declared = [];
    this.#waiting.length = this.#crossed.length = 0;
  }

  /** What declares something around it has done so. */
  #visitApart(node: es.Node): void {
    if (node.type === 'FunctionDeclaration') this.#visitFunction(node);
    else this.#visit(node);
  }

  #visitPiece(start: number, node: Piece): void {
    const pieces = this.#pieces as Pieces;
    const flags = pieces.flagsOf(node.piece);
    if ((flags & PieceFlag.evaluatesWithin) !== 0) this.#noteEval(this.#scope);
    else if ((flags & PieceFlag.evaluates) !== 0) this.#noteEval(this.#scope.forVar);
    node.scope = this.#scope;
    pieces.eachName(node.piece, (name, isCrossed) => {
      this.#waiting.push(new PieceUse(name, start));
      this.#crossed.push(isCrossed ? 1 : 0);
    });
  }

  #setNumber(node: es.Identifier, variable: BoundVariable): void {
    if (this.#numberAt !== null) this.#numberAt[startOf(node)] = variable.number;
  }

  // ------------------------------------------------------------------------------------------------- scopes

  #open(isForVar: boolean, owner: es.Node, ofClass: es.Node | null, bodyStart: number): void {
    const upper = this.#scopeCount === 0 ? null : this.#scope;
    this.#scope = new Scope(upper, isForVar, owner, ofClass, this.#scopeCount++, this.#waiting.length, bodyStart);
  }

  #openBlock(): void {
    this.#open(false, this.#scope.owner, null, 0);
  }

  #close(): void {
    const scope = this.#scope;
    scope.isComplete = true;
    if (scope.byName !== null) {
      this.#resolve(scope, scope.byName);
      if (this.#pieces === null) scope.byName = null;
      scope.variables = scope.variables.slice();
    }
    if (scope.upper !== null) this.#scope = scope.upper;
  }

  #resolve(scope: Scope, byName: ReadonlyMap<string, BoundVariable>): void {
    const waiting = this.#waiting;
    const crossed = this.#crossed;
    let kept = scope.from;
    for (let index = scope.from; index < waiting.length; index++) {
      const node = waiting[index] as es.Identifier;
      const variable = byName.get(node.name);
      if (variable !== undefined && isInSight(scope, variable, node)) {
        this.#use(variable, node, crossed[index] === 1, scope.dynamic);
      } else {
        waiting[kept] = node;
        crossed[kept++] = crossed[index] as number;
      }
    }
    waiting.length = crossed.length = kept;
  }

  #use(variable: BoundVariable, node: es.Identifier, isCrossed: boolean, isDynamic: boolean): void {
    if (isCrossed) variable.captured = true;
    if (isDynamic) variable.dynamic = true;
    if (node instanceof PieceUse) return;
    this.#setNumber(node, variable);
    variable.usesOfArguments?.push((node as unknown as Offsets).end);
  }

  /** What is still waiting above this height is used by another function than the one that will declare it. */
  #leaveFunction(from: number): void {
    this.#crossed.fill(1, from);
  }

  #variable(scope: Scope, name: string, definition: Definition, constant: boolean): BoundVariable {
    if (scope.byName === null) {
      scope.byName = new Map();
      scope.variables = [];
      this.#note(scope);
    }
    let variable = scope.byName.get(name);
    if (variable === undefined) {
      variable = new BoundVariable(name, ++this.variableCount, definition, constant);
      scope.byName.set(name, variable);
      scope.variables.push(variable);
    }
    return variable;
  }

  /** Scopes stand in the order in which they begin, though one may declare something only when another has ended. */
  #note(scope: Scope): void {
    const known = this.scopes.get(scope.owner);
    if (known === undefined) {
      this.scopes.set(scope.owner, [scope]);
      return;
    }
    let at = known.length;
    while (at > 0 && (known[at - 1] as Scope).order > scope.order) at--;
    known.splice(at, 0, scope);
  }

  #declare(scope: Scope, node: es.Identifier, definition: Definition, constant = false): void {
    if (scope.isComplete) return this.#declareAgain(scope, node);
    if (scope.owner === outside) this.#declared.push({ id: node, definition, constant });
    let variable = this.#variable(scope, node.name, definition, constant);
    // A declaration of that name takes the place of what would be there by itself.
    if (variable.definition === 'arguments') variable = this.#redefine(scope, variable, definition, constant);
    // Nearly all have one, and a list that grows takes room for many.
    variable.declared = variable.declared === nowhere ? [startOf(node)] : [...variable.declared, startOf(node)];
    if (scope.ofClass === null) this.#setNumber(node, variable);
  }

  #declareAgain(scope: Scope, node: es.Identifier): void {
    const variable = scope.byName?.get(node.name);
    if (variable !== undefined && scope.ofClass === null) this.#setNumber(node, variable);
  }

  #redefine(scope: Scope, known: BoundVariable, definition: Definition, constant: boolean): BoundVariable {
    const variable = new BoundVariable(known.name, known.number, definition, constant);
    scope.byName?.set(known.name, variable);
    scope.variables[scope.variables.indexOf(known)] = variable;
    return variable;
  }

  #declareArguments(): void {
    this.#variable(this.#scope, 'arguments', 'arguments', false);
  }

  #refer(node: es.Identifier): void {
    this.#waiting.push(node);
    this.#crossed.push(0);
  }

  // ------------------------------------------------------------------------------------------------- nodes

  #visitAll(nodes: Nodes): void {
    for (let index = 0; index < nodes.length; index++) {
      const node = nodes[index];
      if (node != null) this.#visit(node);
    }
  }

  #visitIf(node: es.Node | null | undefined): void {
    if (node != null) this.#visit(node);
  }

  #visit(node: es.Node): void {
    switch (node.type) {
      case 'Identifier':
        return this.#refer(node);
      case 'Literal':
      case 'ThisExpression':
      case 'Super':
      case 'MetaProperty':
      case 'PrivateIdentifier':
      case 'TemplateElement':
      case 'DebuggerStatement':
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'ExportAllDeclaration':
        return;
      case 'EmptyStatement':
        if (node instanceof StatementPiece) this.#visitStatementPiece(node);
        return;
      case 'MemberExpression':
        this.#visit(node.object);
        if (node.computed) this.#visit(node.property);
        return;
      case 'CallExpression':
        if (node.callee.type === 'Identifier' && node.callee.name === 'eval') this.#noteEval(this.#scope.forVar);
        this.#visit(node.callee);
        return this.#visitAll(node.arguments);
      case 'NewExpression':
        this.#visit(node.callee);
        return this.#visitAll(node.arguments);
      case 'Property':
      case 'MethodDefinition':
        if (node.computed) this.#visit(node.key);
        return this.#visit(node.value);
      case 'ExpressionStatement':
      case 'ChainExpression':
        return this.#visit(node.expression);
      case 'AssignmentExpression':
        return this.#visitAssignment(node);
      case 'UpdateExpression':
      case 'UnaryExpression':
      case 'SpreadElement':
      case 'RestElement':
      case 'AwaitExpression':
        return this.#visit(node.argument);
      case 'YieldExpression':
      case 'ReturnStatement':
      case 'ThrowStatement':
        return this.#visitIf(node.argument);
      case 'BinaryExpression':
      case 'LogicalExpression':
        this.#visit(node.left);
        return this.#visit(node.right);
      case 'ConditionalExpression':
      case 'IfStatement':
        this.#visit(node.test);
        this.#visit(node.consequent);
        return this.#visitIf(node.alternate);
      case 'ObjectExpression':
        if (node instanceof LiteralPiece) return this.#visitLiteralPiece(node);
        return this.#visitAll(node.properties);
      case 'ArrayExpression':
        if (node instanceof LiteralPiece) return this.#visitLiteralPiece(node);
        return this.#visitAll(node.elements);
      case 'SequenceExpression':
      case 'TemplateLiteral':
        return this.#visitAll(node.expressions);
      case 'TaggedTemplateExpression':
        this.#visit(node.tag);
        return this.#visit(node.quasi);
      case 'FunctionDeclaration':
        if (node.id !== null) this.#declare(this.#scope, node.id, 'function');
        return this.#visitFunction(node);
      case 'FunctionExpression':
        return node.id == null ? this.#visitFunction(node) : this.#visitNamedFunction(node, node.id);
      case 'ArrowFunctionExpression':
        return this.#visitFunction(node);
      case 'ClassDeclaration':
        if (node.id !== null) this.#declare(this.#scope, node.id, 'class');
        return this.#visitClass(node);
      case 'ClassExpression':
        return this.#visitClass(node);
      case 'ClassBody':
        return this.#visitAll(node.body);
      case 'PropertyDefinition':
        if (node.computed) this.#visit(node.key);
        return this.#visitIf(node.value);
      case 'StaticBlock':
        this.#open(true, this.#scope.owner, null, 0);
        this.#visitAll(node.body);
        return this.#close();
      case 'BlockStatement':
        this.#openBlock();
        this.#visitAll(node.body);
        return this.#close();
      case 'VariableDeclaration':
        return this.#visitDeclaration(node);
      case 'ForStatement':
        return this.#visitFor(node);
      case 'ForInStatement':
      case 'ForOfStatement':
        return this.#visitForEach(node);
      case 'WhileStatement':
        this.#visit(node.test);
        return this.#visit(node.body);
      case 'DoWhileStatement':
        this.#visit(node.body);
        return this.#visit(node.test);
      case 'WithStatement':
        this.#visit(node.object);
        return this.#visit(node.body);
      case 'LabeledStatement':
        return this.#visit(node.body);
      case 'SwitchStatement':
        this.#visit(node.discriminant);
        this.#openBlock();
        this.#visitAll(node.cases);
        return this.#close();
      case 'SwitchCase':
        this.#visitIf(node.test);
        return this.#visitAll(node.consequent);
      case 'TryStatement':
        this.#visit(node.block);
        this.#visitIf(node.handler);
        return this.#visitIf(node.finalizer);
      case 'CatchClause':
        this.#openBlock();
        if (node.param !== null) this.#visitPattern(node.param, this.#scope, 'local', false, false);
        this.#visit(node.body);
        return this.#close();
      case 'ImportExpression':
        this.#visit(node.source);
        return this.#visitIf(node.options);
      case 'ImportDeclaration':
        for (const { local } of node.specifiers) this.#declare(this.#scope, local, 'import');
        return;
      case 'ExportNamedDeclaration':
        if (node.source != null) return;
        this.#visitIf(node.declaration);
        return this.#visitAll(node.specifiers);
      case 'ExportSpecifier':
        return this.#visit(node.local);
      case 'ExportDefaultDeclaration':
        return this.#visit(node.declaration as es.Node);
      default:
        return this.#visitAll(childrenOf(node));
    }
  }

  /** The code that it runs may declare more in any scope around. */
  #noteEval(from: Scope): void {
    for (let scope: Scope | null = from; scope !== null; scope = scope.upper) scope.dynamic = true;
  }

  #visitStatementPiece(node: StatementPiece): void {
    for (const { id, definition, constant } of node.declares) this.#declare(this.#scope, id, definition, constant);
    this.#visitPiece(node.start, node);
  }

  #visitLiteralPiece(node: LiteralPiece): void {
    // What has been made of it before this was for somebody else.
    node.release();
    this.#visitPiece(node.start, node);
  }

  #visitNamedFunction(node: es.FunctionExpression, id: es.Identifier): void {
    if (node.body instanceof BodyPiece) return this.#visitPiece(startOf(node), node.body);
    this.#open(false, node, null, 0);
    this.#declare(this.#scope, id, 'function');
    const { from } = this.#scope;
    this.#visitFunction(node, false);
    this.#close();
    this.#leaveFunction(from);
  }

  #visitFunction(node: es.Function, isLeft = true): void {
    const { body } = node;
    if (body instanceof BodyPiece) return this.#visitPiece(startOf(node), body);
    this.#open(true, node, null, startOf(body));
    const scope = this.#scope;
    if (node.type !== 'ArrowFunctionExpression') this.#declareArguments();
    for (const param of node.params) this.#visitPattern(param, scope, 'parameter', false, false);
    if (body.type === 'BlockStatement') this.#visitAll(body.body);
    else this.#visit(body);
    this.#close();
    if (isLeft) this.#leaveFunction(scope.from);
  }

  #visitClass(node: es.Class): void {
    this.#open(false, this.#scope.owner, node, 0);
    if (node.id != null) this.#declare(this.#scope, node.id, 'class');
    this.#visitIf(node.superClass);
    this.#visit(node.body);
    this.#close();
  }

  #visitDeclaration(node: es.VariableDeclaration): void {
    const scope = node.kind === 'var' ? this.#scope.forVar : this.#scope;
    const constant = node.kind === 'const';
    for (const { id, init } of node.declarations) {
      this.#visitPattern(id, scope, 'local', constant, init != null);
      this.#visitIf(init);
    }
  }

  #visitFor(node: es.ForStatement): void {
    const isOwn = node.init?.type === 'VariableDeclaration' && node.init.kind !== 'var';
    if (isOwn) this.#openBlock();
    this.#visitIf(node.init);
    this.#visitIf(node.test);
    this.#visitIf(node.update);
    this.#visit(node.body);
    if (isOwn) this.#close();
  }

  #visitForEach(node: es.ForInStatement | es.ForOfStatement): void {
    const { left } = node;
    const isOwn = left.type === 'VariableDeclaration' && left.kind !== 'var';
    if (isOwn) this.#openBlock();
    if (left.type === 'VariableDeclaration') {
      const scope = left.kind === 'var' ? this.#scope.forVar : this.#scope;
      for (const { id, init } of left.declarations) {
        this.#visitPattern(id, scope, 'local', left.kind === 'const', true);
        this.#visitIf(init);
      }
    } else this.#visitTarget(left);
    this.#visit(node.right);
    this.#visit(node.body);
    if (isOwn) this.#close();
  }

  #visitAssignment(node: es.AssignmentExpression): void {
    if (node.operator === '=') this.#visitTarget(node.left);
    else this.#visit(node.left);
    this.#visit(node.right);
  }

  #visitTarget(node: es.Node): void {
    this.#visitPattern(node, null, 'local', false, true);
  }

  /** What is bound, then what stands between: defaults and computed keys. `scope`: where the names are declared, null where they are
   *  assigned to. `isWritten`: they are used here, as something is put into them. */
  #visitPattern(
    node: es.Node,
    scope: Scope | null,
    definition: Definition,
    constant: boolean,
    isWritten: boolean,
  ): void {
    if (node.type === 'Identifier') {
      if (scope !== null) this.#declare(scope, node, definition, constant);
      if (isWritten) this.#refer(node);
      return;
    }
    const others: es.Node[] = [];
    this.#bindPattern(node, scope, definition, constant, isWritten, others);
    this.#visitAll(others);
  }

  #bindPattern(
    node: es.Node,
    scope: Scope | null,
    definition: Definition,
    constant: boolean,
    isWritten: boolean,
    others: es.Node[],
  ): void {
    switch (node.type) {
      case 'Identifier':
        if (scope !== null) this.#declare(scope, node, definition, constant);
        if (isWritten) this.#refer(node);
        return;
      case 'ObjectPattern':
        for (const property of node.properties) {
          if (property.type === 'Property') {
            if (property.computed) others.push(property.key);
            this.#bindPattern(property.value, scope, definition, constant, isWritten, others);
          } else this.#bindPattern(property, scope, definition, constant, isWritten, others);
        }
        return;
      case 'ArrayPattern':
        for (const element of node.elements)
          if (element !== null) this.#bindPattern(element, scope, definition, constant, isWritten, others);
        return;
      case 'AssignmentPattern':
        // A default is put into it where it stands.
        this.#bindPattern(node.left, scope, definition, constant, true, others);
        others.push(node.right);
        return;
      case 'RestElement':
        return this.#bindPattern(node.argument, scope, definition, constant, isWritten, others);
      default:
        others.push(node);
    }
  }
}

function isStatement({ type }: es.Node): boolean {
  return type.endsWith('Statement') || type === 'VariableDeclaration';
}

/** In scopes that are complete. */
function meaningOf(node: es.Identifier, from: Scope): BoundVariable | null {
  for (let scope: Scope | null = from; scope !== null; scope = scope.upper) {
    const variable = scope.byName?.get(node.name);
    if (variable !== undefined && isInSight(scope, variable, node)) return variable;
  }
  return null;
}

function isInSight({ bodyStart }: Scope, { declared }: BoundVariable, node: es.Identifier): boolean {
  // `arguments` is declared nowhere, and is there from the beginning.
  if (bodyStart === 0 || startOf(node) >= bodyStart || declared.length === 0) return true;
  for (const offset of declared) if (offset < bodyStart) return true;
  return false;
}

/** Of nodes of a kind that is not known here. */
function childrenOf(node: object): es.Node[] {
  const children: es.Node[] = [];
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) children.push(item);
  }
  return children;
}

function isNode(value: unknown): value is es.Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
