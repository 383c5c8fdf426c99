/**
 * Reads: a part of the graph.
 * Gives: the part as a block: boxes in columns, links as smooth curves between the columns, each with a place of its own
 *        on the side of its box.
 */

import { type AlignSegment, alignLayers } from './graph-align.js';
import {
  type Block,
  type LayoutGraph,
  type Part,
  type PlacedBox,
  type PlacedLink,
  PORT_PITCH,
  type Route,
  RouteBuilder,
  reverseRoute,
} from './graph-geometry.js';
import { type Chain, type LayeredPart, layerPart } from './graph-layers.js';
import { orderLayers } from './graph-order.js';

export const ROW_GAP = 22;
/** Room above and below a link's waypoint where its text stands; elsewhere the gap between rows is enough. */
const TEXT_ROOM = 6;
/** Beside a text: room for the head of an arrow and some air. */
export const TEXT_AIR = 32;
const BARE_RUN = 18;
const CURVE = { straight: 8, least: 36, most: 110 } as const;

export function routePart(graph: LayoutGraph, part: Part): Block {
  const layered = layerPart(graph, part);
  const layers = orderLayers(layered);
  const ports = spreadPorts(graph, layered, layers);
  const centres = alignItems(graph, layered, layers, ports);
  const runs = textRuns(graph, layered);
  const columns = placeColumns(graph, layered, layers, runs, curveWidths(layered, ports, centres));
  return drawBlock(graph, layered, { ports, centres, columns, runs });
}

/** Heights, from the centre of the box, at which each chain leaves its first and reaches its last item. */
interface Ports {
  readonly leaving: readonly number[];
  readonly arriving: readonly number[];
}

interface PortUse {
  readonly chain: number;
  readonly neighbour: number;
}

function spreadPorts(graph: LayoutGraph, layered: LayeredPart, layers: readonly (readonly number[])[]): Ports {
  const position = new Array<number>(layered.layerOf.length).fill(0);
  for (const layer of layers) for (const [index, item] of layer.entries()) position[item] = index;
  const rightUses: PortUse[][] = layered.nodes.map(() => []);
  const leftUses: PortUse[][] = layered.nodes.map(() => []);
  for (const [chain, { items, isEntry }] of layered.chains.entries()) {
    if (!isEntry) rightUses[items[0]!]!.push({ chain, neighbour: position[items[1]!]! });
    leftUses[items.at(-1)!]!.push({ chain, neighbour: items.length > 1 ? position[items.at(-2)!]! : -1 });
  }
  const leaving = new Array<number>(layered.chains.length).fill(0);
  const arriving = new Array<number>(layered.chains.length).fill(0);
  for (const [item, node] of layered.nodes.entries()) {
    spread(rightUses[item]!, graph.boxes[node]!.height, leaving);
    spread(leftUses[item]!, graph.boxes[node]!.height, arriving);
  }
  return { leaving, arriving };
}

function spread(uses: readonly PortUse[], height: number, ports: number[]): void {
  if (uses.length < 2) return;
  const sorted = [...uses].sort((a, b) => a.neighbour - b.neighbour || a.chain - b.chain);
  const pitch = Math.min(PORT_PITCH, (height - 24) / (uses.length - 1));
  for (const [index, use] of sorted.entries()) ports[use.chain] = (index - (uses.length - 1) / 2) * pitch;
}

function alignItems(
  graph: LayoutGraph,
  layered: LayeredPart,
  layers: readonly (readonly number[])[],
  ports: Ports,
): number[] {
  const texts = new Set(layered.chains.flatMap((chain) => (chain.isEntry ? chain.items[0]! : [])));
  const items = layered.layerOf.map((_, item) => {
    const node = layered.nodes[item];
    const room = texts.has(item) ? TEXT_ROOM : 0;
    if (node === undefined) return { above: room, below: room, weight: 3 };
    const box = graph.boxes[node]!;
    return { above: box.height / 2, below: box.height / 2 + box.below, weight: 1 };
  });
  const segments: AlignSegment[] = [];
  for (const [index, chain] of layered.chains.entries()) {
    for (let step = 1; step < chain.items.length; step += 1) {
      const isFirst = step === 1 && !chain.isEntry;
      const isLast = step === chain.items.length - 1;
      segments.push({
        left: chain.items[step - 1]!,
        right: chain.items[step]!,
        leftPort: isFirst ? ports.leaving[index]! : 0,
        rightPort: isLast ? ports.arriving[index]! : 0,
      });
    }
  }
  const centres = alignLayers(layers, items, segments, ROW_GAP);
  const top = Math.min(...layers.map((layer) => centres[layer[0]!]! - items[layer[0]!]!.above));
  return centres.map((centre) => centre - top);
}

/** Straight runs beside the columns that hold the text of links. */
interface Runs {
  /** Per gap: the run that begins at the sources, and the one that ends at the targets. */
  readonly source: readonly number[];
  readonly target: readonly number[];
  /** Per chain: whether its text stands at its left end. */
  readonly atSource: readonly boolean[];
}

/** A text stands at that end of its link where fewer links meet. */
function textRuns(graph: LayoutGraph, layered: LayeredPart): Runs {
  const leave = new Array<number>(layered.nodes.length).fill(0);
  const arrive = new Array<number>(layered.nodes.length).fill(0);
  for (const chain of layered.chains) {
    if (!chain.isEntry) leave[chain.items[0]!]! += 1;
    arrive[chain.items.at(-1)!]! += 1;
  }
  const gaps = Math.max(0, layered.layerCount - 1);
  const source = new Array<number>(gaps).fill(BARE_RUN);
  const target = new Array<number>(gaps).fill(BARE_RUN);
  const atSource = layered.chains.map((chain) => {
    if (chain.isEntry) return false;
    const first = chain.items[0]!;
    const last = chain.items.at(-1)!;
    const near = leave[first]! < arrive[last]!;
    const text = graph.links[chain.link]!.textWidth;
    const run = text > 0 ? text + TEXT_AIR : BARE_RUN;
    const runs = near ? source : target;
    const gap = near ? layered.layerOf[first]! : layered.layerOf[last]! - 1;
    runs[gap] = Math.max(runs[gap]!, run);
    return near;
  });
  return { source, target, atSource };
}

/** Per gap the room for its curves: none where all links run straight, more where they climb far. */
function curveWidths(layered: LayeredPart, ports: Ports, centres: readonly number[]): number[] {
  const climbs = new Array<number>(Math.max(0, layered.layerCount - 1)).fill(0);
  for (const [index, chain] of layered.chains.entries()) {
    const heights = chainHeights(chain, index, ports, centres);
    for (let step = 1; step < heights.length; step += 1) {
      const gap = layered.layerOf[chain.items[step - 1]!]!;
      climbs[gap] = Math.max(climbs[gap]!, Math.abs(heights[step]! - heights[step - 1]!));
    }
  }
  return climbs.map((climb) => (climb < 0.5 ? CURVE.straight : Math.min(CURVE.most, CURVE.least + 0.25 * climb)));
}

/** The heights at which a chain passes its items. */
function chainHeights(chain: Chain, index: number, ports: Ports, centres: readonly number[]): number[] {
  return chain.items.map((item, step) => {
    const leaving = step === 0 && !chain.isEntry ? ports.leaving[index]! : 0;
    const arriving = step === chain.items.length - 1 ? ports.arriving[index]! : 0;
    return centres[item]! + leaving + arriving;
  });
}

interface Columns {
  readonly left: readonly number[];
  readonly right: readonly number[];
}

function placeColumns(
  graph: LayoutGraph,
  layered: LayeredPart,
  layers: readonly (readonly number[])[],
  runs: Runs,
  curves: readonly number[],
): Columns {
  const left: number[] = [];
  const right: number[] = [];
  let x = 0;
  for (const [index, layer] of layers.entries()) {
    const widths = layer.map((item) => graph.boxes[layered.nodes[item] ?? -1]?.width ?? 0);
    left.push(x);
    right.push(x + Math.max(0, ...widths));
    if (index === layers.length - 1) break;
    x = right[index]! + runs.source[index]! + curves[index]! + runs.target[index]!;
  }
  return { left, right };
}

interface Drawing {
  readonly ports: Ports;
  readonly centres: readonly number[];
  readonly columns: Columns;
  readonly runs: Runs;
}

function drawBlock(graph: LayoutGraph, layered: LayeredPart, drawing: Drawing): Block {
  const boxes = layered.nodes.map((node, item): PlacedBox => {
    const x = drawing.columns.left[layered.layerOf[item]!]!;
    return { box: node, x, y: drawing.centres[item]! - graph.boxes[node]!.height / 2 };
  });
  const links: PlacedLink[] = [];
  const entries = [];
  for (const [index, chain] of layered.chains.entries()) {
    const route = drawChain(graph, layered, drawing, index, chain);
    if (chain.isEntry) entries.push({ link: chain.link, y: route.start.y, tail: route });
    else links.push({ link: chain.link, route: chain.flipped ? reverseRoute(route) : route });
  }
  const bottoms = layered.layerOf.map((_, item) => {
    const box = graph.boxes[layered.nodes[item] ?? -1];
    return drawing.centres[item]! + (box === undefined ? 0 : box.height / 2 + box.below);
  });
  const height = bottoms.reduce((most, bottom) => Math.max(most, bottom), 0);
  return { width: drawing.columns.right.at(-1) ?? 0, height, boxes, links, entries };
}

function drawChain(graph: LayoutGraph, layered: LayeredPart, drawing: Drawing, index: number, chain: Chain): Route {
  const { ports, centres, columns, runs } = drawing;
  const heights = chainHeights(chain, index, ports, centres);
  const first = chain.items[0]!;
  const startX = chain.isEntry ? 0 : columns.left[layered.layerOf[first]!]! + boxWidth(graph, layered, first);
  const route = new RouteBuilder({ x: startX, y: heights[0]! });
  for (let step = 1; step < chain.items.length; step += 1) {
    const fromLayer = layered.layerOf[chain.items[step - 1]!]!;
    const toLayer = layered.layerOf[chain.items[step]!]!;
    route.line(columns.right[fromLayer]! + runs.source[fromLayer]!, heights[step - 1]!);
    route.swing(columns.left[toLayer]! - runs.target[toLayer - 1]!, heights[step]!);
    route.line(columns.left[toLayer]!, heights[step]!);
  }
  return route.build(chain.isEntry || graph.links[chain.link]!.textWidth === 0 ? null : labelPoint());

  function labelPoint() {
    const lastLayer = layered.layerOf[chain.items.at(-1)!]!;
    if (runs.atSource[index]) return { x: startX + 18, y: heights[0]! };
    return { x: columns.left[lastLayer]! - runs.target[lastLayer - 1]! + 4, y: heights.at(-1)! };
  }
}

function boxWidth(graph: LayoutGraph, layered: LayeredPart, item: number): number {
  return graph.boxes[layered.nodes[item] ?? -1]?.width ?? 0;
}
