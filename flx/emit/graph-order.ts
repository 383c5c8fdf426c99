/**
 * Reads: items in layers, and the segments between neighbouring layers.
 * Gives: the order within each layer, with few crossings (barycentre sweeps; the best order met is kept).
 */

/** A piece of a link between an item and an item of the next layer. */
export interface LayerSegment {
  readonly left: number;
  readonly right: number;
}

export interface Layering {
  /** Layer of each item. */
  readonly layerOf: readonly number[];
  readonly layerCount: number;
  readonly segments: readonly LayerSegment[];
}

export function orderLayers(layering: Layering): number[][] {
  const neighbours = listNeighbours(layering);
  let best = firstOrder(layering, neighbours.right);
  let bestCrossings = countCrossings(best, layering, Number.POSITIVE_INFINITY);
  let current = best;
  let idle = 0;
  for (let sweep = 0; sweep < sweepLimit(layering.layerOf.length) && bestCrossings > 0 && idle < 4; sweep += 1) {
    current = sweep % 2 === 0 ? sweepRight(current, neighbours.left) : sweepLeft(current, neighbours.right);
    const crossings = countCrossings(current, layering, bestCrossings);
    idle = crossings < bestCrossings ? 0 : idle + 1;
    if (crossings < bestCrossings) {
      best = current;
      bestCrossings = crossings;
    }
  }
  return best;
}

function sweepLimit(items: number): number {
  if (items <= 400) return 24;
  return items <= 4000 ? 6 : 2;
}

interface Neighbours {
  readonly left: readonly (readonly number[])[];
  readonly right: readonly (readonly number[])[];
}

function listNeighbours(layering: Layering): Neighbours {
  const left: number[][] = layering.layerOf.map(() => []);
  const right: number[][] = layering.layerOf.map(() => []);
  for (const segment of layering.segments) {
    left[segment.right]!.push(segment.left);
    right[segment.left]!.push(segment.right);
  }
  return { left, right };
}

/** Depth first from the left: what belongs together starts out side by side. */
function firstOrder(layering: Layering, right: Neighbours['right']): number[][] {
  const layers: number[][] = Array.from({ length: layering.layerCount }, () => []);
  const seen = new Array<boolean>(layering.layerOf.length).fill(false);
  const roots = layering.layerOf.map((_, item) => item).sort((a, b) => layering.layerOf[a]! - layering.layerOf[b]!);
  for (const root of roots) {
    const stack = [root];
    for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
      if (seen[item]) continue;
      seen[item] = true;
      layers[layering.layerOf[item]!]!.push(item);
      stack.push(...right[item]!.toReversed());
    }
  }
  return layers;
}

function sweepRight(layers: readonly (readonly number[])[], left: Neighbours['left']): number[][] {
  const sorted = layers.map((layer) => [...layer]);
  for (let index = 1; index < sorted.length; index += 1) {
    sorted[index] = sortByNeighbours(sorted[index]!, positions(sorted[index - 1]!), left);
  }
  return sorted;
}

function sweepLeft(layers: readonly (readonly number[])[], right: Neighbours['right']): number[][] {
  const sorted = layers.map((layer) => [...layer]);
  for (let index = sorted.length - 2; index >= 0; index -= 1) {
    sorted[index] = sortByNeighbours(sorted[index]!, positions(sorted[index + 1]!), right);
  }
  return sorted;
}

function sortByNeighbours(
  layer: readonly number[],
  position: ReadonlyMap<number, number>,
  neighbours: readonly (readonly number[])[],
): number[] {
  const scale = Math.max(1, position.size) / Math.max(1, layer.length);
  const keyed = layer.map((item, index) => {
    const near = neighbours[item]!;
    // Without a neighbour an item keeps about the height that it has.
    if (near.length === 0) return { item, key: index * scale, index };
    return { item, key: near.reduce((sum, other) => sum + position.get(other)!, 0) / near.length, index };
  });
  return keyed.sort((a, b) => a.key - b.key || a.index - b.index).map((entry) => entry.item);
}

function positions(layer: readonly number[]): Map<number, number> {
  return new Map(layer.map((item, index) => [item, index]));
}

/** Stops counting at `limit`, where the order is of no interest any more. */
export function countCrossings(
  layers: readonly (readonly number[])[],
  layering: Layering,
  limit: number = Number.POSITIVE_INFINITY,
): number {
  const position = new Array<number>(layering.layerOf.length).fill(0);
  for (const layer of layers) for (const [index, item] of layer.entries()) position[item] = index;
  const byLayer: LayerSegment[][] = layers.map(() => []);
  for (const segment of layering.segments) byLayer[layering.layerOf[segment.left]!]!.push(segment);
  let crossings = 0;
  for (const [index, segments] of byLayer.entries()) {
    crossings += crossingsOfGap(segments, position, layers[index + 1]?.length ?? 0);
    if (crossings >= limit) return crossings;
  }
  return crossings;
}

/** Inversions, counted with a tree of partial sums over the right-hand positions. */
function crossingsOfGap(segments: readonly LayerSegment[], position: readonly number[], width: number): number {
  const sorted = [...segments].sort(
    (a, b) => position[a.left]! - position[b.left]! || position[a.right]! - position[b.right]!,
  );
  const tree = new Array<number>(width + 1).fill(0);
  let crossings = 0;
  let inserted = 0;
  for (const segment of sorted) {
    const right = position[segment.right]!;
    let notBelow = 0;
    for (let node = right + 1; node > 0; node -= node & -node) notBelow += tree[node]!;
    crossings += inserted - notBelow;
    inserted += 1;
    for (let node = right + 1; node <= width; node += node & -node) tree[node]! += 1;
  }
  return crossings;
}
