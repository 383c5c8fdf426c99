/**
 * Reads: a FluxionProgram.
 * Gives: what a picture of it shows, measured but not placed: one card per fluxion, one link per pair of fluxions and
 *        type of stream, and the groups in order of first use.
 */

import type { Fluxion, ShownProgram, StreamFact, StreamType } from '../program.js';
import { PORT_PITCH } from './graph-geometry.js';
import { displayText, shorten, shortenEnd, textWidth } from './graph-text.js';

export const FONT = { id: 13, small: 11, tag: 10.5, far: 20 } as const;
/** Above this many fluxions a card keeps only its name and place, and links lose their text. */
export const DETAIL_LIMIT = 600;

const CARD = { min: 178, max: 276, left: 18, right: 14, top: 25, line: 18, bottom: 13 } as const;
const LINK_TEXT_MAX = 208;
const ICON = 20;
const MOST_SPREAD_PORTS = 8;
const LOOP_ROOM = 34;

export type CardLine =
  | { readonly kind: 'id' | 'place' | 'context'; readonly text: string; readonly full: string; readonly y: number }
  | { readonly kind: 'tags'; readonly tags: readonly CardTag[]; readonly y: number };

export interface CardTag {
  readonly text: string;
  readonly full: string;
  readonly group: number;
  readonly x: number;
  readonly width: number;
}

export interface Card {
  readonly fluxion: Fluxion;
  readonly isMain: boolean;
  readonly groups: readonly number[];
  readonly lines: readonly CardLine[];
  readonly width: number;
  readonly height: number;
  /** Room kept free under the card. */
  readonly below: number;
}

export interface Link {
  readonly from: number;
  readonly to: number;
  readonly type: StreamType;
  /** All streams between the two; the text shows the first. */
  readonly streams: readonly StreamFact[];
  /** Above the line: the route, event or callee. */
  readonly title: string;
  /** Under the line: the variables of the message. */
  readonly variables: string;
  readonly full: string;
  readonly textWidth: number;
}

export interface GraphModel {
  readonly cards: readonly Card[];
  readonly links: readonly Link[];
  readonly groups: readonly string[];
  readonly main: number | null;
  readonly detailed: boolean;
}

export function buildGraphModel(program: ShownProgram): GraphModel {
  const detailed = program.fluxions.length <= DETAIL_LIMIT;
  const groups = listGroups(program);
  const links = bundleStreams(program, detailed);
  const main = program.fluxions.findIndex((fluxion) => fluxion.kind === 'main');
  const width = cardWidth(program.fluxions, detailed);
  const heights = portHeights(program.fluxions.length, links, main);
  const loops = new Set(links.filter((link) => link.from === link.to).map((link) => link.from));
  const groupIndex = new Map(groups.map((tag, index) => [tag, index]));
  const cards = program.fluxions.map((fluxion, index): Card => {
    const indexes = fluxion.tags.map((tag) => groupIndex.get(tag)!);
    const lines = cardLines(fluxion, indexes, width, detailed);
    const height = Math.max(lines.at(-1)!.y + CARD.bottom, heights[index]!);
    const below = loops.has(index) ? LOOP_ROOM : 0;
    return { fluxion, isMain: index === main, groups: indexes, lines, width, height, below };
  });
  return { cards, links, groups, main: main === -1 ? null : main, detailed };
}

/** A file and line as editors take it. */
export function placeText(fluxion: Fluxion): string {
  return `${fluxion.at.module}:${fluxion.at.line}`;
}

/** Where a fluxion runs, in words. */
export function placementText(fluxion: Fluxion): string {
  switch (fluxion.placement) {
    case 'home':
      return 'runs at home';
    case 'group':
      return 'runs with its group, on one loop';
    case 'replicated':
      return 'replicated on every loop';
  }
}

function listGroups(program: ShownProgram): string[] {
  const groups = new Set<string>();
  for (const fluxion of program.fluxions) for (const tag of fluxion.tags) groups.add(tag);
  return [...groups];
}

/** Streams between the same two fluxions would lie on top of each other, so one link carries them all. */
function bundleStreams(program: ShownProgram, detailed: boolean): Link[] {
  const indexOf = new Map(program.fluxions.map((fluxion, index) => [fluxion.id, index]));
  const bundles = new Map<string, { from: number; to: number; type: StreamType; streams: StreamFact[] }>();
  for (const [from, fluxion] of program.fluxions.entries()) {
    for (const stream of fluxion.streams) {
      for (const dest of stream.dest) {
        const to = indexOf.get(dest);
        if (to === undefined) continue;
        const key = `${from} ${to} ${stream.type}`;
        const bundle = bundles.get(key);
        if (bundle === undefined) bundles.set(key, { from, to, type: stream.type, streams: [stream] });
        else if (!bundle.streams.includes(stream)) bundle.streams.push(stream);
      }
    }
  }
  return [...bundles.values()].map((bundle) => ({ ...bundle, ...linkText(bundle.streams, detailed) }));
}

function linkText(streams: readonly StreamFact[], detailed: boolean) {
  const first = streams[0]!;
  const more = streams.length > 1 ? ` +${streams.length - 1}` : '';
  const name = displayText(first.label ?? first.callee);
  const title = shorten(name, FONT.small, LINK_TEXT_MAX - textWidth(more, FONT.small)) + more;
  const variables = shortenEnd(displayText(first.message.join(', ')), FONT.small, LINK_TEXT_MAX);
  const full = streams.map(streamText).join('\n');
  if (!detailed) return { title: '', variables: '', full, textWidth: 0 };
  const width = Math.max(textWidth(title, FONT.small), textWidth(variables, FONT.small));
  return { title, variables, full, textWidth: width };
}

export function streamText(stream: StreamFact): string {
  const arrow = stream.type === 'start' ? '>>' : '->';
  const label = stream.label === null ? stream.callee : `${stream.label} (${stream.callee})`;
  return `${arrow} ${label} [${stream.message.join(', ')}]`;
}

/** All cards share one width: columns then align, and the eye finds the names at one place. */
function cardWidth(fluxions: readonly Fluxion[], detailed: boolean): number {
  let widest = 0;
  for (const fluxion of fluxions) {
    widest = Math.max(widest, textWidth(fluxion.id, FONT.id) + ICON, textWidth(placeText(fluxion), FONT.small));
    if (detailed) widest = Math.max(widest, textWidth(contextText(fluxion), FONT.small), tagRowWidth(fluxion.tags));
  }
  return Math.ceil(Math.min(CARD.max, Math.max(CARD.min, widest + CARD.left + CARD.right)));
}

function cardLines(
  fluxion: Fluxion,
  groups: readonly number[],
  width: number,
  detailed: boolean,
): [CardLine, ...CardLine[]] {
  const room = width - CARD.left - CARD.right;
  const id = displayText(fluxion.id);
  const place = displayText(placeText(fluxion));
  const lines: [CardLine, ...CardLine[]] = [
    { kind: 'id', text: shorten(id, FONT.id, room - ICON), full: id, y: CARD.top },
    { kind: 'place', text: shorten(place, FONT.small, room), full: place, y: CARD.top + CARD.line },
  ];
  if (!detailed) return lines;
  let y = CARD.top + CARD.line;
  if (fluxion.context.length > 0) {
    y += CARD.line;
    const full = displayText(contextText(fluxion));
    lines.push({ kind: 'context', text: shortenEnd(full, FONT.small, room), full, y });
  }
  if (fluxion.tags.length > 0) {
    y += CARD.line + 3;
    lines.push({ kind: 'tags', tags: placeTags(fluxion.tags, groups, room), y });
  }
  return lines;
}

function contextText(fluxion: Fluxion): string {
  return fluxion.context.length === 0 ? '' : `{${fluxion.context.join(', ')}}`;
}

const TAG = { padding: 7, gap: 5 } as const;

function tagRowWidth(tags: readonly string[]): number {
  const text = tags.reduce((sum, tag) => sum + textWidth(tag, FONT.tag) + 2 * TAG.padding, 0);
  return text + Math.max(0, tags.length - 1) * TAG.gap;
}

/** Tags side by side; those that do not fit stand together as `+n`. */
function placeTags(tags: readonly string[], groups: readonly number[], room: number): CardTag[] {
  const placed: CardTag[] = [];
  let x = 0;
  for (const [index, tag] of tags.entries()) {
    const left = tags.length - index - 1;
    const reserve = left === 0 ? 0 : TAG.gap + textWidth(`+${left}`, FONT.tag) + 2 * TAG.padding;
    const space = room - x - reserve - 2 * TAG.padding;
    const full = displayText(tag);
    const least = Math.min(textWidth(full, FONT.tag), textWidth('grp_abc…', FONT.tag));
    if (space < least) {
      const rest = `+${left + 1}`;
      const all = displayText(tags.slice(index).join(', '));
      placed.push({ text: rest, full: all, group: -1, x, width: textWidth(rest, FONT.tag) + 2 * TAG.padding });
      break;
    }
    const text = shorten(full, FONT.tag, space);
    const width = textWidth(text, FONT.tag) + 2 * TAG.padding;
    placed.push({ text, full, group: groups[index]!, x, width });
    x += width + TAG.gap;
  }
  return placed;
}

/**
 * A card is tall enough for the texts of links that stand at one side of it, up to a sensible number. As in the layout,
 * a text stands at that end of its link where fewer links meet; those of the start-up code always stand at the far end.
 * Of two links between the same cards one goes back, and so has its text on the side of the other.
 */
function portHeights(count: number, links: readonly Link[], main: number): number[] {
  const incoming = new Array<number>(count).fill(0);
  const outgoing = new Array<number>(count).fill(0);
  const left = new Array<number>(count).fill(0);
  const right = new Array<number>(count).fill(0);
  const across = links.filter((link) => link.from !== link.to && link.textWidth > 0);
  const pairs = new Set(across.map((link) => `${link.from} ${link.to}`));
  for (const link of across) {
    outgoing[link.from]! += 1;
    incoming[link.to]! += 1;
  }
  for (const { from, to } of across) {
    if (from === main || (to !== main && incoming[to]! <= outgoing[from]!)) left[to]! += 1;
    else if (to !== main) right[from]! += 1;
    if (to === main || pairs.has(`${to} ${from}`)) {
      left[from]! += 1;
      right[to]! += 1;
    }
  }
  return left.map((ports, index) => {
    const busiest = index === main ? 0 : Math.max(ports, right[index]!);
    return busiest > 1 ? Math.min(busiest, MOST_SPREAD_PORTS) * PORT_PITCH + 8 : 0;
  });
}
