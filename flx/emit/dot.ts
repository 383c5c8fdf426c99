/**
 * Reads: a FluxionProgram.
 * Gives: the pipeline as a Graphviz digraph. A colour per group tag (stripes where a fluxion has several), a double
 *        border where it is replicated, `>>` as bold and `->` as dashed edges.
 */

import type { Fluxion, ShownProgram, StreamFact } from '../program.js';
import { placeText } from './graph-model.js';
import { displayText } from './graph-text.js';
import { LIGHT } from './graph-theme.js';

export function printDot(program: ShownProgram): string {
  const groups = new Map<string, string>();
  for (const tag of program.fluxions.flatMap((fluxion) => fluxion.tags)) {
    if (!groups.has(tag)) groups.set(tag, tint(LIGHT.groups[groups.size % LIGHT.groups.length]!));
  }
  const known = new Set<string>(program.fluxions.map((fluxion) => fluxion.id));
  const nodes = program.fluxions.map((fluxion) => printNode(fluxion, groups));
  const edges = program.fluxions.flatMap((fluxion) =>
    fluxion.streams.flatMap((stream) =>
      stream.dest.filter((dest) => known.has(dest)).map((dest) => printEdge(fluxion, dest, stream)),
    ),
  );
  return [
    `digraph ${quote(program.entry)} {`,
    '  graph [rankdir=LR, nodesep=0.3, ranksep=0.9, fontname="Helvetica"];',
    '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", color="#5b6167", fontname="Menlo,Consolas,monospace", fontsize=11];',
    '  edge [color="#5b6167", fontname="Menlo,Consolas,monospace", fontsize=9];',
    ...nodes,
    ...edges,
    '}',
    '',
  ].join('\n');
}

function printNode(fluxion: Fluxion, groups: ReadonlyMap<string, string>): string {
  const lines = [fluxion.id, `${placeText(fluxion)} · ${fluxion.placement}`];
  if (fluxion.context.length > 0) lines.push(`{${fluxion.context.join(', ')}}`);
  if (fluxion.tags.length > 0) lines.push(`& ${fluxion.tags.join(', ')}`);
  const attributes = [`label=${label(lines)}`];
  const colours = fluxion.tags.map((tag) => groups.get(tag)!);
  if (colours.length === 1) attributes.push(`fillcolor="${colours[0]}"`);
  // Graphviz takes stripes only without rounded corners.
  if (colours.length > 1) attributes.push('style="striped"', `fillcolor="${colours.join(':')}"`);
  if (fluxion.placement === 'replicated') attributes.push('peripheries=2');
  if (fluxion.kind === 'main') attributes.push('penwidth=2');
  return `  ${quote(fluxion.id)} [${attributes.join(', ')}];`;
}

function printEdge(fluxion: Fluxion, dest: string, stream: StreamFact): string {
  const text = label([stream.label ?? stream.callee, `[${stream.message.join(', ')}]`]);
  const look = stream.type === 'start' ? 'style=bold, arrowhead=normalnormal' : 'style=dashed, arrowhead=vee';
  return `  ${quote(fluxion.id)} -> ${quote(dest)} [label=${text}, ${look}];`;
}

/** A quoted identifier: it ends at the first quote that no backslash stands before. */
function quote(text: string): string {
  return `"${displayText(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Lines of a label, where Graphviz reads backslashes and, as in HTML, entities. */
function label(lines: readonly string[]): string {
  const escaped = lines.map((line) =>
    displayText(line).replaceAll('&', '&amp;').replaceAll('\\', '\\\\').replaceAll('"', '\\"'),
  );
  return `"${escaped.join('\\n')}"`;
}

/** The colour, mixed with three parts of white, so that black text stays readable on it. */
function tint(colour: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return `#${parts
    .map((part) =>
      Math.round(part * 0.28 + 255 * 0.72)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}
