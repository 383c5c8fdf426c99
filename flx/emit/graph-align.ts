/**
 * Reads: ordered layers of items with their heights, and segments with the height at which they touch their items.
 * Gives: the vertical centre of each item; items of a layer keep their order and their distance, segments run as
 *        straight as that allows.
 */

export interface AlignItem {
  readonly above: number;
  readonly below: number;
  /** How much it matters that this item stands where its neighbours want it. */
  readonly weight: number;
}

export interface AlignSegment {
  readonly left: number;
  readonly right: number;
  /** Heights at which the segment leaves and arrives, from the centres of the items. */
  readonly leftPort: number;
  readonly rightPort: number;
}

interface Pull {
  readonly other: number;
  readonly offset: number;
}

export function alignLayers(
  layers: readonly (readonly number[])[],
  items: readonly AlignItem[],
  segments: readonly AlignSegment[],
  gap: number,
): number[] {
  const centres = new Array<number>(items.length).fill(0);
  const fromLeft: Pull[][] = items.map(() => []);
  const fromRight: Pull[][] = items.map(() => []);
  for (const { left, right, leftPort, rightPort } of segments) {
    fromLeft[right]!.push({ other: left, offset: leftPort - rightPort });
    fromRight[left]!.push({ other: right, offset: rightPort - leftPort });
  }
  for (const layer of layers) stack(layer, items, centres, gap);
  const rounds = items.length <= 1500 ? 6 : 2;
  const both = items.map((_, item) => [...fromLeft[item]!, ...fromRight[item]!]);
  for (let round = 0; round < rounds; round += 1) {
    for (const layer of layers) settle(layer, items, fromLeft, centres, gap);
    for (const layer of layers.toReversed()) settle(layer, items, fromRight, centres, gap);
  }
  // Means of means come to rest slowly; small pictures can afford to wait until lines are straight.
  const rest = items.length <= 400 ? 24 : 2;
  for (let round = 0; round < rest; round += 1) for (const layer of layers) settle(layer, items, both, centres, gap);
  for (const layer of layers) straighten(layer, items, fromLeft, centres, gap);
  return centres;
}

function stack(layer: readonly number[], items: readonly AlignItem[], centres: number[], gap: number): void {
  let y = 0;
  for (const item of layer) {
    centres[item] = y + items[item]!.above;
    y += items[item]!.above + items[item]!.below + gap;
  }
}

interface Run {
  sum: number;
  weight: number;
  count: number;
}

/**
 * Moves the items of a layer as near as they can get, in the least squares, to where their neighbours pull them.
 * With the distances subtracted that is a fit of a rising line: neighbours in the wrong order are merged to their mean.
 */
function settle(
  layer: readonly number[],
  items: readonly AlignItem[],
  pulls: readonly (readonly Pull[])[],
  centres: number[],
  gap: number,
): void {
  const runs: Run[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, item] of layer.entries()) {
    if (index > 0) offset += items[layer[index - 1]!]!.below + gap + items[item]!.above;
    offsets.push(offset);
    const near = pulls[item]!;
    const wanted =
      near.length === 0
        ? centres[item]!
        : near.reduce((sum, pull) => sum + centres[pull.other]! + pull.offset, 0) / near.length;
    // An item that nothing pulls gives way to all others.
    const weight = near.length === 0 ? 0.01 : items[item]!.weight;
    runs.push({ sum: (wanted - offset) * weight, weight, count: 1 });
    mergeRuns(runs);
  }
  let index = 0;
  for (const run of runs) {
    for (let n = 0; n < run.count; n += 1, index += 1) centres[layer[index]!] = run.sum / run.weight + offsets[index]!;
  }
}

function mergeRuns(runs: Run[]): void {
  while (runs.length > 1) {
    const last = runs.at(-1)!;
    const before = runs.at(-2)!;
    if (before.sum / before.weight <= last.sum / last.weight) return;
    runs.pop();
    before.sum += last.sum;
    before.weight += last.weight;
    before.count += last.count;
  }
}

/** A step that one hardly sees looks like a mistake. */
const SMALL_STEP = 12;

/** Moves each item to where its nearest link from the left runs straight, if that is a small step and there is room. */
function straighten(
  layer: readonly number[],
  items: readonly AlignItem[],
  fromLeft: readonly (readonly Pull[])[],
  centres: number[],
  gap: number,
): void {
  for (const [index, item] of layer.entries()) {
    const steps = fromLeft[item]!.map((pull) => centres[pull.other]! + pull.offset - centres[item]!);
    const step = steps.reduce((least, one) => (Math.abs(one) < Math.abs(least) ? one : least), SMALL_STEP);
    if (Math.abs(step) >= SMALL_STEP) continue;
    const before = layer[index - 1];
    const after = layer[index + 1];
    const top = before === undefined ? Number.NEGATIVE_INFINITY : centres[before]! + items[before]!.below + gap;
    const bottom = after === undefined ? Number.POSITIVE_INFINITY : centres[after]! - items[after]!.above - gap;
    const wanted = centres[item]! + step;
    if (wanted - items[item]!.above >= top && wanted + items[item]!.below <= bottom) centres[item] = wanted;
  }
}
