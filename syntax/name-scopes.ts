/**
 * Scopes of names, and what is declared in them.
 */
import type * as es from 'estree';

export type Definition = 'arguments' | 'parameter' | 'import' | 'function' | 'class' | 'local';

export class BoundVariable {
  readonly name: string;
  /** From 1. */
  readonly number: number;
  /** By its first declaration. */
  readonly definition: Definition;
  readonly constant: boolean;
  /** Offsets of its declarations. */
  declared: readonly number[] = nowhere;
  /** A function in the one that it belongs to uses it. */
  captured = false;
  /** Something may declare its name anew at run time, where it is used. */
  dynamic = false;
  /** Where each use ends; kept of `arguments` only. */
  readonly usesOfArguments: number[] | null;

  constructor(name: string, number: number, definition: Definition, constant: boolean) {
    this.name = name;
    this.number = number;
    this.definition = definition;
    this.constant = constant;
    this.usesOfArguments = name === 'arguments' ? [] : null;
  }
}

export const nowhere: readonly number[] = [];

/** One that declares anything. */
export interface NameScope {
  /** The class of whose name this is the inner one. */
  readonly ofClass: es.Node | null;
  readonly variables: readonly BoundVariable[];
}

export class Scope implements NameScope {
  readonly upper: Scope | null;
  /** Where `var` goes. */
  readonly forVar: Scope;
  /** The function that it is part of. */
  readonly owner: es.Node;
  readonly ofClass: es.Node | null;
  readonly order: number;
  /** Height of the stack when it began. */
  readonly from: number;
  /** What stands in front of this offset does not see what is declared behind it: defaults of parameters. */
  readonly bodyStart: number;
  variables: BoundVariable[] = noVariables;
  /** Kept where more of it is bound later. */
  byName: Map<string, BoundVariable> | null = null;
  dynamic = false;
  /** All of it has been seen. */
  isComplete = false;

  constructor(
    upper: Scope | null,
    isForVar: boolean,
    owner: es.Node,
    ofClass: es.Node | null,
    order: number,
    from: number,
    bodyStart: number,
  ) {
    this.upper = upper;
    this.forVar = isForVar || upper === null ? this : upper.forVar;
    this.owner = owner;
    this.ofClass = ofClass;
    this.order = order;
    this.from = from;
    this.bodyStart = bodyStart;
  }
}

export const noVariables: BoundVariable[] = [];
