/**
 * Reads: a measured graph and its layout.
 * Gives: SVG markup of the scene (links, then stages), without the root element, style or legend.
 */

import type { Placement } from '../program.js';
import { endOf, headingOf, type Route } from './graph-geometry.js';
import { type Card, type CardLine, FONT, type GraphModel, type Link, placementText, placeText } from './graph-model.js';
import { displayText, escapeXml, num, shorten } from './graph-text.js';
import { groupClass } from './graph-theme.js';
import { type LaidOutBox, type Layout, layoutGraph } from './layout.js';

const RADIUS = 8;
const BAR = 5;
const LEFT = 18;
const RIGHT = 14;

export function layoutModel(model: GraphModel): Layout {
  return layoutGraph({ boxes: model.cards, links: model.links, origin: model.main, aspect: 1.7 });
}

export interface DrawOptions {
  /** Stages take the focus and carry what a script needs to find them. */
  readonly interactive: boolean;
}

export function drawScene(model: GraphModel, layout: Layout, options: DrawOptions): string {
  const links = model.links.map((link, index) => drawLink(link, layout.routes[index]!, options));
  const stages = model.cards.map((card, index) => drawStage(card, index, layout.boxes[index]!, options));
  const lit = options.interactive ? '<g id="lit-links" aria-hidden="true"></g>\n' : '';
  return `<g class="links">\n${links.join('\n')}\n</g>\n${lit}<g class="stages">\n${stages.join('\n')}\n</g>`;
}

function drawLink(link: Link, route: Route, options: DrawOptions): string {
  const data = options.interactive ? ` data-from="${link.from}" data-to="${link.to}"` : '';
  const texts = route.label === null ? '' : drawLinkText(link, route.label.x, route.label.y);
  return (
    `<g class="link ${link.type}"${data}><title>${escapeXml(link.full.replaceAll('\n', ' ; '))}</title>` +
    `<path class="line" d="${pathData(route)}"/><path class="head" d="${headData(route, link.type === 'start')}"/>` +
    `${texts}</g>`
  );
}

function drawLinkText(link: Link, x: number, y: number): string {
  const title = link.title === '' ? '' : `<text x="${num(x)}" y="${num(y - 5)}">${escapeXml(link.title)}</text>`;
  const variables =
    link.variables === ''
      ? ''
      : `<text class="muted" x="${num(x)}" y="${num(y + 13)}">${escapeXml(link.variables)}</text>`;
  return title + variables;
}

function pathData(route: Route): string {
  let data = `M${num(route.start.x)} ${num(route.start.y)}`;
  for (const segment of route.segments) {
    const { to } = segment;
    if (segment.kind === 'line') data += `L${num(to.x)} ${num(to.y)}`;
    else {
      const { c1, c2 } = segment;
      data += `C${num(c1.x)} ${num(c1.y)} ${num(c2.x)} ${num(c2.y)} ${num(to.x)} ${num(to.y)}`;
    }
  }
  return data;
}

/** `>` at the end of the route, or `>>` where the stream starts a chain. */
function headData(route: Route, double: boolean): string {
  const tip = endOf(route);
  const { x: dx, y: dy } = headingOf(route);
  const point = (back: number, side: number) =>
    `${num(tip.x - dx * back - dy * side)} ${num(tip.y - dy * back + dx * side)}`;
  const chevron = (back: number) => `M${point(back + 6, -4.5)}L${point(back, 0)}L${point(back + 6, 4.5)}`;
  return double ? chevron(1.5) + chevron(7.5) : chevron(1.5);
}

function drawStage(card: Card, index: number, box: LaidOutBox, options: DrawOptions): string {
  const { fluxion } = card;
  const classes = ['stage', fluxion.placement, card.isMain ? 'main' : ''].filter((name) => name !== '').join(' ');
  const attributes = options.interactive
    ? ` data-stage="${index}" data-x="${num(box.x)}" data-y="${num(box.y)}" data-width="${num(box.width)}" data-height="${num(box.height)}" tabindex="-1" role="button" aria-label="${escapeXml(stageLabel(card))}"`
    : '';
  const copy =
    fluxion.placement === 'replicated' ? `<rect class="copy" x="4" y="4" ${boxAttributes(box)} rx="${RADIUS}"/>` : '';
  return (
    `<g class="${classes}" transform="translate(${num(box.x)} ${num(box.y)})"${attributes}>` +
    `<title>${escapeXml(stageLabel(card))}</title>${copy}` +
    `<rect class="card" ${boxAttributes(box)} rx="${RADIUS}"/>${drawBar(card, box)}` +
    `${card.lines.map(drawLine).join('')}${options.interactive ? drawFarName(card, box) : ''}` +
    `<path class="icon" transform="translate(${num(box.width - RIGHT - 13)} 14)" d="${placementIcon(fluxion.placement)}"/></g>`
  );
}

export function stageLabel(card: Card): string {
  const { fluxion } = card;
  const parts = [fluxion.id, placeText(fluxion), placementText(fluxion)];
  if (fluxion.context.length > 0) parts.push(`context {${fluxion.context.join(', ')}}`);
  if (fluxion.tags.length > 0) parts.push(`group ${fluxion.tags.join(', ')}`);
  return parts.join(' · ');
}

function boxAttributes(box: LaidOutBox): string {
  return `width="${num(box.width)}" height="${num(box.height)}"`;
}

/** One piece of the left edge for each group that the stage belongs to. */
function drawBar(card: Card, box: LaidOutBox): string {
  const inset = RADIUS;
  const length = (box.height - 2 * inset) / Math.max(1, card.groups.length);
  return card.groups
    .map((group, index) => {
      const y = inset + index * length;
      return `<rect class="${groupClass(group)}" x="6" y="${num(y)}" width="${BAR}" height="${num(length)}" rx="2.5"/>`;
    })
    .join('');
}

/** The name in large type, for when the picture is seen from far away. */
function drawFarName(card: Card, box: LaidOutBox): string {
  const name = shorten(displayText(card.fluxion.id), FONT.far, box.width - LEFT - 8);
  return `<text class="far-id" x="${LEFT}" y="${num(box.height / 2 + 7)}">${escapeXml(name)}</text>`;
}

function drawLine(line: CardLine): string {
  switch (line.kind) {
    case 'id':
      return `<text class="id" x="${LEFT}" y="${line.y}">${escapeXml(line.text)}</text>`;
    case 'place':
      return `<text class="place muted" x="${LEFT}" y="${line.y}">${escapeXml(line.text)}</text>`;
    case 'context':
      return `<text class="context" x="${LEFT}" y="${line.y}">${escapeXml(line.text)}</text>`;
    case 'tags':
      return line.tags.map((tag) => drawTag(tag, line.y)).join('');
  }
}

function drawTag(tag: { text: string; group: number; x: number; width: number }, y: number): string {
  const colour = tag.group < 0 ? 'tag-rest' : `tag ${groupClass(tag.group)}`;
  return (
    `<rect class="${colour}" x="${num(LEFT + tag.x)}" y="${num(y - 12)}" width="${num(tag.width)}" height="17" rx="8.5"/>` +
    `<text class="tag-text" x="${num(LEFT + tag.x + 7)}" y="${num(y)}">${escapeXml(tag.text)}</text>`
  );
}

/** In a square of 13: a house, two rings that hold each other, two sheets. */
export function placementIcon(placement: Placement): string {
  switch (placement) {
    case 'home':
      return 'M1 6.5L6.5 1.5L12 6.5M2.8 5.5V12H10.2V5.5';
    case 'group':
      return 'M8.6 6.5A3.8 3.8 0 1 1 1 6.5A3.8 3.8 0 1 1 8.6 6.5M12 6.5A3.8 3.8 0 1 1 4.4 6.5A3.8 3.8 0 1 1 12 6.5';
    case 'replicated':
      return 'M4.5 4.5H12V12H4.5ZM2.5 9H1V1H9V2.5';
  }
}
