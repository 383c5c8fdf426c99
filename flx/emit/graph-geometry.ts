/**
 * The plain shapes that the layout passes hand to each other. Everything is in pixels; x grows to the right, y down.
 */

/** Links that arrive beside each other need this distance for the two lines of text that stand at each. */
export const PORT_PITCH = 34;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box to be placed, and the room that must stay free under it. */
export interface Box {
  readonly width: number;
  readonly height: number;
  readonly below: number;
}

/** A link to be routed; `textWidth` is the width of the text that stands at it, 0 if there is none. */
export interface LayoutLink {
  readonly from: number;
  readonly to: number;
  readonly textWidth: number;
}

export interface LayoutGraph {
  readonly boxes: readonly Box[];
  readonly links: readonly LayoutLink[];
}

export type Segment =
  | { readonly kind: 'line'; readonly to: Point }
  | { readonly kind: 'curve'; readonly c1: Point; readonly c2: Point; readonly to: Point };

export interface Route {
  readonly start: Point;
  readonly segments: readonly Segment[];
  /** Where the text begins; the line runs through this point. */
  readonly label: Point | null;
}

export interface PlacedBox {
  readonly box: number;
  readonly x: number;
  readonly y: number;
}

export interface PlacedLink {
  readonly link: number;
  readonly route: Route;
}

/** Where a link from outside enters a block on its left border, and how it goes on from there to its box. */
export interface BlockEntry {
  readonly link: number;
  readonly y: number;
  readonly tail: Route;
}

/** A part of the picture that is placed in itself: its top left corner is the origin. */
export interface Block {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly PlacedBox[];
  readonly links: readonly PlacedLink[];
  readonly entries: readonly BlockEntry[];
}

/** A set of boxes with the links between them, and the links that come to it from its hub (or go back there). */
export interface Part {
  readonly nodes: readonly number[];
  readonly links: readonly number[];
  readonly entries: readonly PartEntry[];
}

export interface PartEntry {
  readonly link: number;
  readonly node: number;
}

/** Collects a route; leaves out steps of no length and joins straight ones. */
export class RouteBuilder {
  private readonly segments: Segment[] = [];
  private at: Point;

  constructor(private readonly start: Point) {
    this.at = start;
  }

  line(x: number, y: number): this {
    if (same(x, this.at.x) && same(y, this.at.y)) return this;
    const last = this.segments.at(-1);
    const before = this.segments.at(-2)?.to ?? this.start;
    if (last?.kind === 'line' && isStraight(before, last.to, { x, y })) this.segments.pop();
    this.at = { x, y };
    this.segments.push({ kind: 'line', to: this.at });
    return this;
  }

  /** A curve that leaves and arrives horizontally. */
  swing(x: number, y: number): this {
    if (same(y, this.at.y)) return this.line(x, y);
    const middle = (this.at.x + x) / 2;
    const c1 = { x: middle, y: this.at.y };
    this.at = { x, y };
    this.segments.push({ kind: 'curve', c1, c2: { x: middle, y }, to: this.at });
    return this;
  }

  /** Straight to near a corner, round it, and on towards the next point. */
  corner(corner: Point, next: Point, radius: number): this {
    const into = towards(corner, this.at, radius);
    const out = towards(corner, next, radius);
    this.line(into.x, into.y);
    this.segments.push({ kind: 'curve', c1: between(into, corner), c2: between(out, corner), to: out });
    this.at = out;
    return this;
  }

  append(route: Route): this {
    this.line(route.start.x, route.start.y);
    for (const segment of route.segments) {
      if (segment.kind === 'line') this.line(segment.to.x, segment.to.y);
      else {
        this.segments.push(segment);
        this.at = segment.to;
      }
    }
    return this;
  }

  build(label: Point | null): Route {
    return { start: this.start, segments: this.segments, label };
  }
}

export function endOf(route: Route): Point {
  return route.segments.at(-1)?.to ?? route.start;
}

/** The direction in which the route arrives, as a vector of length 1. */
export function headingOf(route: Route): Point {
  const last = route.segments.at(-1);
  if (last === undefined) return { x: 1, y: 0 };
  const before = last.kind === 'curve' ? last.c2 : (route.segments.at(-2)?.to ?? route.start);
  const dx = last.to.x - before.x;
  const dy = last.to.y - before.y;
  const length = Math.hypot(dx, dy);
  return length === 0 ? { x: 1, y: 0 } : { x: dx / length, y: dy / length };
}

export function reverseRoute(route: Route): Route {
  const points = [route.start, ...route.segments.map((segment) => segment.to)];
  const segments = route.segments.map((segment, index): Segment => {
    const to = points[index]!;
    return segment.kind === 'line' ? { kind: 'line', to } : { kind: 'curve', c1: segment.c2, c2: segment.c1, to };
  });
  return { start: endOf(route), segments: segments.reverse(), label: route.label };
}

export function shiftRoute(route: Route, dx: number, dy: number): Route {
  const shift = (point: Point): Point => ({ x: point.x + dx, y: point.y + dy });
  return {
    start: shift(route.start),
    segments: route.segments.map((segment) =>
      segment.kind === 'line'
        ? { kind: 'line', to: shift(segment.to) }
        : { kind: 'curve', c1: shift(segment.c1), c2: shift(segment.c2), to: shift(segment.to) },
    ),
    label: route.label === null ? null : shift(route.label),
  };
}

function same(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.05;
}

/** All three on one horizontal or one vertical line. */
function isStraight(a: Point, b: Point, c: Point): boolean {
  return (same(a.y, b.y) && same(b.y, c.y)) || (same(a.x, b.x) && same(b.x, c.x));
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = length === 0 ? 0 : Math.min(distance, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

/** The control point that makes a cubic curve look like a quarter of a circle. */
function between(end: Point, corner: Point): Point {
  return { x: end.x + (corner.x - end.x) * 0.55, y: end.y + (corner.y - end.y) * 0.55 };
}
