/**
 * Reads: a part of the graph.
 * Gives: its layering: links that close a cycle turned round, each box as far to the right as its longest path says,
 *        links over several layers cut into segments by waypoints.
 */

import type { LayoutGraph, Part } from './graph-geometry.js';
import type { Layering, LayerSegment } from './graph-order.js';

/** The items that a link runs through, from left to right; an entry's chain begins at the left border. */
export interface Chain {
  readonly link: number;
  readonly items: readonly number[];
  /** The link points from right to left. */
  readonly flipped: boolean;
  readonly isEntry: boolean;
}

/** Items `0 … nodes.length - 1` are the part's boxes, the others waypoints. */
export interface LayeredPart extends Layering {
  readonly nodes: readonly number[];
  readonly chains: readonly Chain[];
}

interface LocalLink {
  readonly link: number;
  readonly from: number;
  readonly to: number;
  readonly flipped: boolean;
}

export function layerPart(graph: LayoutGraph, part: Part): LayeredPart {
  const local = new Map(part.nodes.map((node, index) => [node, index]));
  const entryNodes = part.entries.map((entry) => local.get(entry.node)!);
  const links = breakCycles(
    part.nodes.length,
    part.links.map((link) => ({
      link,
      from: local.get(graph.links[link]!.from)!,
      to: local.get(graph.links[link]!.to)!,
      flipped: false,
    })),
    entryNodes,
  );
  const layers = longestPaths(part.nodes.length, links, entryNodes);
  return cutIntoSegments(part, links, layers, entryNodes);
}

/** Turns round each link that leads back to a box from which the walk has come. */
function breakCycles(count: number, links: readonly LocalLink[], entryNodes: readonly number[]): LocalLink[] {
  const out = outgoing(count, links);
  const hasIncoming = new Array<boolean>(count).fill(false);
  for (const link of links) hasIncoming[link.to] = true;
  const sources = hasIncoming.flatMap((has, node) => (has ? [] : [node]));
  const flipped = new Set<number>();
  const state = new Array<'new' | 'open' | 'done'>(count).fill('new');
  for (const root of [...entryNodes, ...sources, ...hasIncoming.keys()]) {
    if (state[root] !== 'new') continue;
    state[root] = 'open';
    const path = [{ node: root, next: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const index = out[top.node]![top.next];
      top.next += 1;
      if (index === undefined) {
        state[top.node] = 'done';
        path.pop();
        continue;
      }
      const to = links[index]!.to;
      if (state[to] === 'open') flipped.add(index);
      else if (state[to] === 'new') {
        state[to] = 'open';
        path.push({ node: to, next: 0 });
      }
    }
  }
  return links.map((link, index) =>
    flipped.has(index) ? { link: link.link, from: link.to, to: link.from, flipped: true } : link,
  );
}

function outgoing(count: number, links: readonly LocalLink[]): number[][] {
  const out: number[][] = Array.from({ length: count }, () => []);
  for (const [index, link] of links.entries()) out[link.from]!.push(index);
  return out;
}

function longestPaths(count: number, links: readonly LocalLink[], entryNodes: readonly number[]): number[] {
  const out = outgoing(count, links);
  const waiting = new Array<number>(count).fill(0);
  for (const link of links) waiting[link.to]! += 1;
  const layers = new Array<number>(count).fill(0);
  const sources = waiting.flatMap((number, node) => (number === 0 ? [node] : []));
  const order = [...sources];
  for (let index = 0; index < order.length; index += 1) {
    for (const number of out[order[index]!]!) {
      const { to } = links[number]!;
      layers[to] = Math.max(layers[to]!, layers[order[index]!]! + 1);
      waiting[to]! -= 1;
      if (waiting[to] === 0) order.push(to);
    }
  }
  pullSources(sources, entryNodes, links, out, layers);
  return layers;
}

/** A box that nothing leads to stands next to what it leads to, not at the far left. */
function pullSources(
  sources: readonly number[],
  entryNodes: readonly number[],
  links: readonly LocalLink[],
  out: readonly (readonly number[])[],
  layers: number[],
): void {
  const entered = new Set(entryNodes);
  for (const source of sources) {
    const targets = out[source]!.map((index) => layers[links[index]!.to]!);
    if (!entered.has(source) && targets.length > 0) layers[source] = Math.min(...targets) - 1;
  }
}

function cutIntoSegments(
  part: Part,
  links: readonly LocalLink[],
  boxLayers: readonly number[],
  entryNodes: readonly number[],
): LayeredPart {
  const layerOf = [...boxLayers];
  const segments: LayerSegment[] = [];
  const chains: Chain[] = [];
  // A few very long links would make more waypoints than there are boxes; beyond the budget they run straight.
  let budget = 6 * part.nodes.length + 200;
  const addChain = (link: number, head: readonly number[], from: number, to: number, flipped: boolean): void => {
    const items = [...head];
    const waypoints = boxLayers[to]! - from;
    if (waypoints <= budget) {
      budget -= waypoints;
      for (let layer = from; layer < boxLayers[to]!; layer += 1) {
        items.push(layerOf.length);
        layerOf.push(layer);
      }
      items.push(to);
      for (let index = 1; index < items.length; index += 1) {
        segments.push({ left: items[index - 1]!, right: items[index]! });
      }
    } else items.push(to);
    chains.push({ link, items, flipped, isEntry: head.length === 0 });
  };
  for (const [index, node] of entryNodes.entries()) addChain(part.entries[index]!.link, [], 0, node, false);
  for (const { link, from, to, flipped } of links) addChain(link, [from], boxLayers[from]! + 1, to, flipped);
  const layerCount = layerOf.reduce((most, layer) => Math.max(most, layer + 1), 0);
  return { nodes: part.nodes, layerOf, layerCount, segments, chains };
}
