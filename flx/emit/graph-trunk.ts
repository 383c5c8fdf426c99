/**
 * Reads: a hub, the blocks that hang on it, and a proportion of width to height that would be pleasant.
 * Gives: one block. Its blocks are stacked in one or more columns; a trunk runs from the hub to each column and branches
 *        off to each entry:
 *
 *          one column                    several columns
 *                 ┌─ block               hub
 *          hub ───┼─ block                ├──────────────┐
 *                 └─ block                ├─ block       ├─ block
 *                                         └─ block       └─ block
 */

import {
  type Block,
  type BlockEntry,
  type LayoutGraph,
  type PlacedLink,
  PORT_PITCH,
  type Point,
  type Route,
  RouteBuilder,
  reverseRoute,
  shiftRoute,
} from './graph-geometry.js';
import { ROW_GAP, TEXT_AIR } from './graph-route.js';

const BLOCK_GAP = ROW_GAP + 4;
const COLUMN_GAP = 64;
const RAIL = 36;
const CORNER = 12;
const BARE_BRANCH = 40;
/** Links that go back to the hub keep to a lane of their own. */
const LANE = 12;
const MOST_COLUMNS = 48;
/** One column reads best; several must come out clearly larger. */
const ONE_COLUMN_BONUS = 0.8;

export interface Hub {
  readonly box: number;
  /** The links from outside that lead to the hub itself. */
  readonly entries: readonly number[];
}

interface Column {
  readonly blocks: readonly Block[];
  readonly width: number;
  readonly height: number;
  /** Length of the branches, texts included; 0 where nothing branches off. */
  readonly branch: number;
}

export function routeTrunk(graph: LayoutGraph, hub: Hub | null, blocks: readonly Block[], aspect: number): Block {
  const columns = chooseColumns(graph, hub, blocks, aspect);
  if (hub === null) return stackWithoutHub(columns);
  return columns.length <= 1 ? routeOneColumn(graph, hub, columns[0]) : routeColumns(graph, hub, columns);
}

function chooseColumns(graph: LayoutGraph, hub: Hub | null, blocks: readonly Block[], aspect: number): Column[] {
  const hubBox = hub === null ? { width: 0, height: 0 } : graph.boxes[hub.box]!;
  const branches = blocks.map((block) => branchLength(graph, block));
  let best: Column[] = [];
  let bestScore = Number.POSITIVE_INFINITY;
  for (let count = 1; count <= Math.min(MOST_COLUMNS, blocks.length); count += 1) {
    const columns = splitColumns(blocks, branches, count);
    const hubWidth = columns.length === 1 ? hubBox.width + RAIL : 0;
    const hubHeight = columns.length === 1 ? 0 : hubBox.height + 60;
    const width = columns.reduce((sum, column) => sum + column.width + COLUMN_GAP, hubWidth - COLUMN_GAP);
    const height = hubHeight + Math.max(...columns.map((column) => column.height));
    // What the picture must be scaled down by to fit a window of the wanted proportion.
    const score = Math.max(width / aspect, height) * (columns.length === 1 ? ONE_COLUMN_BONUS : 1);
    if (score < bestScore) {
      best = columns;
      bestScore = score;
    }
  }
  return best;
}

function branchLength(graph: LayoutGraph, block: Block): number {
  const texts = block.entries.map((entry) => graph.links[entry.link]!.textWidth);
  if (texts.length === 0) return 0;
  const widest = Math.max(...texts);
  return widest > 0 ? widest + TEXT_AIR + CORNER : BARE_BRANCH;
}

/** At most `count` columns, blocks in their order, the highest column as low as possible. */
function splitColumns(blocks: readonly Block[], branches: readonly number[], count: number): Column[] {
  let low = Math.max(...blocks.map((block) => block.height));
  let high = blocks.reduce((sum, block) => sum + block.height + BLOCK_GAP, 0);
  for (let step = 0; step < 20 && high - low > 1; step += 1) {
    const middle = (low + high) / 2;
    if (countColumns(blocks, middle) <= count) high = middle;
    else low = middle;
  }
  const columns: Column[] = [];
  let first = 0;
  while (first < blocks.length) {
    const end = columnEnd(blocks, first, high);
    const own = blocks.slice(first, end);
    const branch = Math.max(...branches.slice(first, end));
    columns.push({
      blocks: own,
      branch,
      width: branch + Math.max(...own.map((block) => block.width)),
      height: own.reduce((sum, block) => sum + block.height + BLOCK_GAP, -BLOCK_GAP),
    });
    first = end;
  }
  return columns;
}

function countColumns(blocks: readonly Block[], height: number): number {
  let count = 0;
  for (let first = 0; first < blocks.length; first = columnEnd(blocks, first, height)) count += 1;
  return count;
}

function columnEnd(blocks: readonly Block[], first: number, height: number): number {
  let used = blocks[first]!.height;
  let end = first + 1;
  while (end < blocks.length && used + BLOCK_GAP + blocks[end]!.height <= height) {
    used += BLOCK_GAP + blocks[end]!.height;
    end += 1;
  }
  return end;
}

/** Collects placed blocks. */
class Sheet {
  readonly boxes: Block['boxes'][number][] = [];
  readonly links: PlacedLink[] = [];
  width = 0;
  height = 0;

  place(block: Block, x: number, y: number): void {
    for (const placed of block.boxes) this.boxes.push({ box: placed.box, x: placed.x + x, y: placed.y + y });
    for (const { link, route } of block.links) this.links.push({ link, route: shiftRoute(route, x, y) });
    this.width = Math.max(this.width, x + block.width);
    this.height = Math.max(this.height, y + block.height);
  }

  build(entries: readonly BlockEntry[]): Block {
    return { width: this.width, height: this.height, boxes: this.boxes, links: this.links, entries };
  }
}

function stackWithoutHub(columns: readonly Column[]): Block {
  const sheet = new Sheet();
  let x = 0;
  for (const column of columns) {
    stackColumn(sheet, column, x, 0);
    x += column.width + COLUMN_GAP;
  }
  return sheet.build([]);
}

/** The entries of a column's blocks at the height where they ended up. */
function stackColumn(sheet: Sheet, column: Column, x: number, top: number): { entry: BlockEntry; y: number }[] {
  const entries: { entry: BlockEntry; y: number }[] = [];
  let y = top;
  for (const block of column.blocks) {
    sheet.place(block, x + column.branch, y);
    for (const entry of block.entries) {
      entries.push({ entry: { ...entry, tail: shiftRoute(entry.tail, x + column.branch, y) }, y: y + entry.y });
    }
    y += block.height + BLOCK_GAP;
  }
  return entries;
}

function routeOneColumn(graph: LayoutGraph, hub: Hub, column: Column | undefined): Block {
  const box = graph.boxes[hub.box]!;
  const sheet = new Sheet();
  const railX = box.width + RAIL;
  const entries = column === undefined ? [] : stackColumn(sheet, column, railX, 0);
  const heights = entries.map((entry) => entry.y);
  const middle = hubHeight(heights, box.height / 2);
  const shift = Math.max(0, box.height / 2 - middle);
  const y = middle - box.height / 2;
  const shifted = shift === 0 ? sheet.build([]) : shiftBlock(sheet.build([]), shift);
  const result = new Sheet();
  result.place(shifted, 0, 0);
  result.boxes.push({ box: hub.box, x: 0, y: y + shift });
  result.width = Math.max(result.width, box.width);
  result.height = Math.max(result.height, y + shift + box.height + box.below);
  for (const { entry, y: entryY } of entries) {
    const isBack = graph.links[entry.link]!.to === hub.box;
    const from = { x: box.width, y: middle + shift + (isBack ? LANE : 0) };
    const rail = railX - (isBack ? LANE : 0);
    const route = branch(from, [], rail, entryY + shift, shiftRoute(entry.tail, 0, shift));
    result.links.push({ link: entry.link, route: finish(graph, entry.link, route, railX, entryY + shift, isBack) });
  }
  return result.build(hubEntries(hub, box.height, y + shift));
}

/** The middle of the entries, or the entry beside it: a link that nearly runs straight should run straight. */
function hubHeight(entries: readonly number[], none: number): number {
  if (entries.length === 0) return none;
  const middle =
    entries.reduce((most, y) => Math.max(most, y)) / 2 + entries.reduce((least, y) => Math.min(least, y)) / 2;
  const nearest = entries.reduce((best, y) => (Math.abs(y - middle) < Math.abs(best - middle) ? y : best));
  return Math.abs(nearest - middle) < 2 * CORNER ? nearest : middle;
}

function routeColumns(graph: LayoutGraph, hub: Hub, columns: readonly Column[]): Block {
  const box = graph.boxes[hub.box]!;
  const sheet = new Sheet();
  sheet.boxes.push({ box: hub.box, x: 0, y: 0 });
  sheet.width = box.width;
  const leaveX = RAIL / 2;
  const trunkY = box.height + box.below + 26;
  let x = leaveX;
  for (const column of columns) {
    for (const { entry, y } of stackColumn(sheet, column, x, trunkY + 30)) {
      const isBack = graph.links[entry.link]!.to === hub.box;
      const lane = isBack ? LANE : 0;
      const from = { x: leaveX + lane, y: box.height };
      const bends = x === leaveX ? [] : [trunkY + lane];
      const route = branch(from, bends, x + lane, y, entry.tail);
      sheet.links.push({ link: entry.link, route: finish(graph, entry.link, route, x, y, isBack) });
    }
    x += column.width + COLUMN_GAP;
  }
  return sheet.build(hubEntries(hub, box.height, 0));
}

/** From the hub to the rail, along it, and round the corner to the entry. */
function branch(from: Point, bends: readonly number[], railX: number, y: number, tail: Route): RouteBuilder {
  const route = new RouteBuilder(from);
  const radius = Math.min(CORNER, Math.max(1, Math.abs(y - from.y) / 2));
  const trunkY = bends[0];
  const isDown = from.x === railX || trunkY !== undefined;
  if (trunkY !== undefined) {
    route.corner({ x: from.x, y: trunkY }, { x: railX, y: trunkY }, CORNER);
    route.corner({ x: railX, y: trunkY }, { x: railX, y }, CORNER);
  }
  if (isDown) route.corner({ x: railX, y }, { x: railX + 2 * CORNER, y }, CORNER);
  else if (Math.abs(y - from.y) >= 1) {
    route.corner({ x: railX, y: from.y }, { x: railX, y }, radius);
    route.corner({ x: railX, y }, { x: railX + 2 * CORNER, y }, radius);
  }
  return route.append(tail);
}

function finish(
  graph: LayoutGraph,
  link: number,
  route: RouteBuilder,
  railX: number,
  y: number,
  isBack: boolean,
): Route {
  const label = graph.links[link]!.textWidth > 0 ? { x: railX + CORNER + 4, y } : null;
  const built = route.build(label);
  return isBack ? reverseRoute(built) : built;
}

function shiftBlock(block: Block, dy: number): Block {
  const sheet = new Sheet();
  sheet.place(block, 0, dy);
  return sheet.build([]);
}

function hubEntries(hub: Hub, height: number, top: number): BlockEntry[] {
  const pitch = Math.min(PORT_PITCH, (height - 24) / Math.max(1, hub.entries.length - 1));
  return hub.entries.map((link, index) => {
    const y = top + height / 2 + (index - (hub.entries.length - 1) / 2) * pitch;
    return { link, y, tail: { start: { x: 0, y }, segments: [], label: null } };
  });
}
