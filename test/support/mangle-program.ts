/**
 * Reads: the text of a module, and choices.
 * Gives: another text that is wrong in a way that happens: pieces of the syntax tree dropped, doubled, swapped or renamed,
 *        or the text itself cut off, spliced, or strewn with odd characters.
 */
import { generate } from 'astring';
import { parse } from 'espree';
import { replace, traverse, VisitorOption } from 'estraverse';
import type { Node } from 'estree';
import type { Choices } from './choices.js';

/** Null where the text is no program to begin with. */
export function mangleTree(text: string, isModule: boolean, choices: Choices): string | null {
  let tree = parseOrNull(text, isModule);
  if (tree === null) return null;
  for (let left = 1 + choices.below(6); left > 0; left--) tree = mangleOnce(tree, choices);
  try {
    return generate(tree);
  } catch {
    // What was put there may have no printed form: the mangling went too far to be a text at all.
    return null;
  }
}

function parseOrNull(text: string, isModule: boolean): Node | null {
  try {
    // The parser's own node types name the same trees as estree's, a little more loosely.
    return parse(text, { ecmaVersion: 'latest', sourceType: isModule ? 'module' : 'commonjs' }) as unknown as Node;
  } catch {
    return null;
  }
}

const oddNames = [
  'constructor',
  '__proto__',
  'prototype',
  'arguments',
  'require',
  'module',
  'exports',
  'undefined',
  'ünï',
  'a',
];

function mangleOnce(tree: Node, choices: Choices): Node {
  const nodes = listNodes(tree);
  const chosen = choices.in(nodes);
  switch (choices.below(5)) {
    case 0:
      return without(tree, chosen);
    case 1:
      return doubled(tree, chosen);
    case 2:
      return swapped(tree, chosen, choices.in(nodes.filter((node) => kindOf(node) === kindOf(chosen))));
    case 3:
      return renamed(tree, choices, nodes);
    default:
      return grafted(tree, chosen, choices.in(nodes.filter((node) => kindOf(node) === kindOf(chosen))));
  }
}

/** All nodes but the program itself, in the order of the source. */
function listNodes(tree: Node): readonly Node[] {
  const nodes: Node[] = [];
  traverse(tree, {
    fallback: 'iteration',
    enter: (node) => {
      if (node.type !== 'Program') nodes.push(node);
    },
  });
  return nodes.length === 0 ? [tree] : nodes;
}

/** Nodes of one kind can stand in each other's place, more often than not. */
function kindOf({ type }: Node): string {
  return /Expression|Identifier|Literal/.test(type)
    ? 'expression'
    : /Statement|Declaration/.test(type)
      ? 'statement'
      : type;
}

/** Only what stands in a list can go and leave a tree. */
function without(tree: Node, chosen: Node): Node {
  eachList(tree, (list) => {
    const index = list.indexOf(chosen);
    if (index >= 0) list.splice(index, 1);
  });
  return tree;
}

function doubled(tree: Node, chosen: Node): Node {
  eachList(tree, (list) => {
    const index = list.indexOf(chosen);
    if (index >= 0) list.splice(index, 0, structuredClone(chosen));
  });
  return tree;
}

function eachList(tree: Node, visit: (list: unknown[]) => void): void {
  traverse(tree, {
    fallback: 'iteration',
    enter: (node) => {
      for (const value of Object.values(node)) if (Array.isArray(value)) visit(value);
    },
  });
}

function swapped(tree: Node, left: Node, right: Node): Node {
  const [copyOfLeft, copyOfRight] = [structuredClone(left), structuredClone(right)];
  return replace(tree, {
    fallback: 'iteration',
    enter(node) {
      if (node !== left && node !== right) return node;
      this.skip();
      return node === left ? copyOfRight : copyOfLeft;
    },
  });
}

function grafted(tree: Node, from: Node, to: Node): Node {
  const copy = structuredClone(from);
  return replace(tree, {
    fallback: 'iteration',
    enter(node) {
      if (node !== to) return node;
      this.skip();
      return copy;
    },
  });
}

function renamed(tree: Node, choices: Choices, nodes: readonly Node[]): Node {
  const names = nodes.flatMap((node) => (node.type === 'Identifier' ? [node.name] : []));
  if (names.length === 0) return tree;
  const from = choices.in(names);
  const to = choices.oneIn(3) ? choices.in(oddNames) : choices.in(names);
  const everywhere = choices.oneIn(2);
  let done = false;
  traverse(tree, {
    fallback: 'iteration',
    enter: (node) => {
      if (node.type !== 'Identifier' || node.name !== from || done) return undefined;
      node.name = to;
      done = !everywhere;
      return everywhere ? undefined : VisitorOption.Break;
    },
  });
  return tree;
}

// Text --------------------------------------------------------------------------------------------------------------

const oddTexts = [
  '\0',
  '\uFEFF',
  '\u2028',
  '\u2029',
  '\u00a0',
  '\u200b',
  '\ud800',
  '\udfff',
  '😀',
  '𠮷',
  'é',
  '\r',
  '\r\n',
  '\t',
  '\\',
  '\\u{110000}',
  '`',
  '${',
  '}',
  '{',
  '(',
  ')',
  '[',
  ']',
  "'",
  '"',
  '/*',
  '*/',
  '//',
  '<!--',
  '-->',
  '#!',
  '#',
  '@',
  '/',
  '=>',
  '...',
  '?.',
  '**=',
  '??=',
  'await ',
  'yield ',
  'async ',
  'import(',
  'import.meta',
  'export ',
  'super',
  'new.target',
  '0x',
  '1_000n',
  '1e',
  'with(x)',
  'debugger',
];

export function mangleText(text: string, choices: Choices): string {
  let mangled = text;
  for (let left = 1 + choices.below(3); left > 0; left--) mangled = mangleTextOnce(mangled, choices);
  return mangled;
}

function mangleTextOnce(text: string, choices: Choices): string {
  const at = choices.below(text.length + 1);
  const length = 1 + choices.below(40);
  switch (choices.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(at);
    case 2:
      return text.slice(0, at) + text.slice(at + length);
    case 3:
      return text.slice(0, at) + choices.in(oddTexts) + text.slice(at);
    case 4: {
      const from = choices.below(text.length + 1);
      return text.slice(0, at) + text.slice(from, from + length) + text.slice(at);
    }
    default:
      return text.slice(0, at) + choices.in(oddTexts) + text.slice(at + length);
  }
}
