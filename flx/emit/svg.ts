/**
 * Reads: a FluxionProgram.
 * Gives: its pipeline as one SVG file: no script, no fonts or files from outside, light and dark.
 */

import type { Placement, ShownProgram } from '../program.js';
import { drawScene, layoutModel, placementIcon } from './graph-draw.js';
import { buildGraphModel, FONT, type GraphModel } from './graph-model.js';
import { displayText, escapeXml, num, shorten, textWidth } from './graph-text.js';
import { groupClass, pictureStyle } from './graph-theme.js';

const MARGIN = 36;
const HEADER = 62;
const LEGEND_LINE = 26;
const LEAST_WIDTH = 560;
const MOST_GROUPS = 32;

export function printSvg(program: ShownProgram): string {
  const model = buildGraphModel(program);
  const layout = layoutModel(model);
  const width = Math.max(LEAST_WIDTH, layout.width + 2 * MARGIN);
  const legend = drawLegend(model, width - 2 * MARGIN);
  const legendTop = MARGIN + HEADER + layout.height + 40;
  const height = legendTop + legend.height + MARGIN - LEGEND_LINE / 2;
  const title = `${displayText(program.entry)} as a pipeline of fluxions`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" width="${num(width)}" height="${num(height)}" viewBox="0 0 ${num(width)} ${num(height)}">
<title>${escapeXml(title)}</title>
<style>
${escapeStyle(pictureStyle())}
</style>
<rect class="canvas" width="100%" height="100%"/>
<text class="entry" font-size="18" font-weight="600" x="${MARGIN}" y="${MARGIN + 12}">${escapeXml(shorten(program.entry, 18, width - 2 * MARGIN))}</text>
<text class="summary muted" x="${MARGIN}" y="${MARGIN + 32}">${escapeXml(summaryText(program))}</text>
<g transform="translate(${MARGIN} ${MARGIN + HEADER})">
${drawScene(model, layout, { interactive: false })}
</g>
<g class="legend" transform="translate(${MARGIN} ${num(legendTop)})">
${legend.markup}
</g>
</svg>
`;
}

/** `25 stages · 14 replicated · 8 grouped · 3 at home` */
export function summaryText(program: ShownProgram): string {
  const count = (placement: Placement) => program.fluxions.filter((fluxion) => fluxion.placement === placement).length;
  const total = program.fluxions.length;
  if (total === 0) return 'no stages';
  const stages = total === 1 ? '1 stage' : `${total} stages`;
  return `${stages} · ${count('replicated')} replicated · ${count('group')} grouped · ${count('home')} at home`;
}

interface LegendItem {
  readonly markup: string;
  readonly text: string;
}

/** Items from left to right, in as many lines as the width asks for. */
function drawLegend(model: GraphModel, width: number): { markup: string; height: number } {
  const parts: string[] = [];
  let x = 0;
  let y = 0;
  for (const item of legendItems(model)) {
    const text = shorten(item.text, FONT.small, 260);
    const needed = 24 + textWidth(text, FONT.small);
    if (x > 0 && x + needed > width) {
      x = 0;
      y += LEGEND_LINE;
    }
    parts.push(
      `<g transform="translate(${num(x)} ${num(y)})">${item.markup}<text x="24" y="10">${escapeXml(text)}</text></g>`,
    );
    x += needed + 24;
  }
  return { markup: parts.join('\n'), height: parts.length === 0 ? 0 : y + LEGEND_LINE };
}

function legendItems(model: GraphModel): LegendItem[] {
  if (model.cards.length === 0) return [];
  const icon = (placement: Placement) => `<path class="icon" d="${placementIcon(placement)}"/>`;
  const items: LegendItem[] = [
    { markup: icon('replicated'), text: 'replicated on every loop' },
    { markup: icon('group'), text: 'with its group on one loop' },
    { markup: icon('home'), text: 'at home' },
    { markup: legendLink('start', 'M9 2L15 6.5L9 11M3 2L9 6.5L3 11'), text: 'start: called again and again' },
    { markup: legendLink('post', 'M10 2L16 6.5L10 11'), text: 'post: goes on once' },
  ];
  for (const [index, tag] of model.groups.slice(0, MOST_GROUPS).entries()) {
    const markup = `<rect class="${groupClass(index)}" x="4" y="-1" width="5" height="15" rx="2.5"/>`;
    items.push({ markup, text: tag });
  }
  const more = model.groups.length - MOST_GROUPS;
  if (more > 0) items.push({ markup: '', text: `${more} more groups` });
  return items;
}

function legendLink(type: 'start' | 'post', head: string): string {
  return `<g class="${type}"><path class="line" d="M0 6.5H15"/><path class="head" d="${head}"/></g>`;
}

/** A style sheet inside XML: the child combinator would be the only sign to mind, and quotes are fine. */
function escapeStyle(style: string): string {
  return style.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
