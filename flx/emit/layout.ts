/**
 * Reads: boxes with their sizes, links between them, the box at which everything begins.
 * Gives: a place for each box and a route for each link; no two boxes touch, each route begins and ends at the border
 *        of its boxes. Same input, same picture.
 *
 * The picture is drawn from left to right. A box from which many links fan out (the start-up code with its routes) is
 * taken out as a hub; what then falls apart is placed by itself and hung on the hub by a trunk (graph-trunk.ts). Parts
 * without such a box are layered (graph-route.ts).
 */

import type {
  Block,
  Box,
  LayoutGraph,
  LayoutLink,
  Part,
  PartEntry,
  PlacedBox,
  Point,
  Route,
} from './graph-geometry.js';
import { RouteBuilder } from './graph-geometry.js';
import { routePart } from './graph-route.js';
import { routeTrunk } from './graph-trunk.js';

export interface LayoutInput extends LayoutGraph {
  readonly boxes: readonly Box[];
  readonly links: readonly LayoutLink[];
  /** The box of the start-up code. */
  readonly origin: number | null;
  /** Width divided by height that the picture should come near to. */
  readonly aspect: number;
}

export interface LaidOutBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly LaidOutBox[];
  readonly routes: readonly Route[];
}

/** From this many links on a box is worth a trunk. */
const HUB_LINKS = 6;
/** Hubs within hubs; deeper parts are layered. */
const MOST_NESTED_HUBS = 24;

export function layoutGraph(input: LayoutInput): Layout {
  const nodes = input.boxes.map((_, index) => index);
  const links = input.links.flatMap((link, index) => (link.from === link.to ? [] : [index]));
  const block = layoutHub(input, { nodes, links, entries: [] }, input.origin, 0);
  return collect(input, block);
}

function layoutHub(input: LayoutInput, part: Part, hub: number | null, depth: number): Block {
  const rest = part.nodes.filter((node) => node !== hub);
  const inner = part.links.filter((link) => input.links[link]!.from !== hub && input.links[link]!.to !== hub);
  const entries = part.links.flatMap((link): PartEntry[] => {
    const { from, to } = input.links[link]!;
    if (from === hub) return [{ link, node: to }];
    return to === hub ? [{ link, node: from }] : [];
  });
  const blocks = splitParts(input, { nodes: rest, links: inner, entries }).map((own) => layoutPart(input, own, depth));
  const own = hub === null ? null : { box: hub, entries: part.entries.map((entry) => entry.link) };
  return routeTrunk(input, own, blocks, input.aspect);
}

function layoutPart(input: LayoutInput, part: Part, depth: number): Block {
  const hub = depth < MOST_NESTED_HUBS ? findHub(input, part) : null;
  return hub === null ? routePart(input, part) : layoutHub(input, part, hub, depth + 1);
}

/** The only box at which the part is entered, if some box in the part fans out widely. */
function findHub(input: LayoutInput, part: Part): number | null {
  const first = part.entries[0];
  if (first === undefined || part.entries.some((entry) => entry.node !== first.node)) return null;
  const fan = new Map<number, number>();
  for (const link of part.links) fan.set(input.links[link]!.from, (fan.get(input.links[link]!.from) ?? 0) + 1);
  return [...fan.values()].some((count) => count >= HUB_LINKS) ? first.node : null;
}

/** The connected parts, in the order of their first boxes. */
function splitParts(input: LayoutInput, whole: Part): Part[] {
  const parentOf = new Map(whole.nodes.map((node) => [node, node]));
  const rootOf = (node: number): number => {
    let root = node;
    while (parentOf.get(root)! !== root) root = parentOf.get(root)!;
    for (let at = node; at !== root; ) {
      const next = parentOf.get(at)!;
      parentOf.set(at, root);
      at = next;
    }
    return root;
  };
  for (const link of whole.links) parentOf.set(rootOf(input.links[link]!.to), rootOf(input.links[link]!.from));
  const parts = new Map<number, { nodes: number[]; links: number[]; entries: PartEntry[] }>();
  for (const node of whole.nodes) {
    const part = parts.get(rootOf(node));
    if (part === undefined) parts.set(rootOf(node), { nodes: [node], links: [], entries: [] });
    else part.nodes.push(node);
  }
  for (const link of whole.links) parts.get(rootOf(input.links[link]!.from))!.links.push(link);
  for (const entry of whole.entries) parts.get(rootOf(entry.node))!.entries.push(entry);
  return [...parts.values()];
}

function collect(input: LayoutInput, block: Block): Layout {
  const places = new Map<number, PlacedBox>(block.boxes.map((placed) => [placed.box, placed]));
  const boxes = input.boxes.map((box, index): LaidOutBox => {
    const { x, y } = places.get(index)!;
    return { x, y, width: box.width, height: box.height };
  });
  const routed = new Map(block.links.map(({ link, route }) => [link, route]));
  const routes = input.links.map((link, index) => routed.get(index) ?? loopRoute(boxes[link.from]!, link));
  return { width: block.width, height: block.height, boxes, routes };
}

/** A link from a box to itself: out at the right, round the corner and back in at the bottom. */
function loopRoute(box: LaidOutBox, link: LayoutLink): Route {
  const start: Point = { x: box.x + box.width, y: box.y + box.height - 16 };
  const end: Point = { x: box.x + box.width - 30, y: box.y + box.height };
  const outer = { x: start.x + 16, y: end.y + 20 };
  const label = link.textWidth > 0 ? { x: end.x - link.textWidth - 12, y: outer.y } : null;
  return new RouteBuilder(start)
    .corner({ x: outer.x, y: start.y }, outer, 14)
    .corner(outer, { x: end.x, y: outer.y }, 14)
    .corner({ x: end.x, y: outer.y }, end, 14)
    .line(end.x, end.y)
    .build(label);
}
