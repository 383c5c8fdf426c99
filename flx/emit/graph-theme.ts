/**
 * Colours and type of the pictures, once for light and once for dark. Values are written out, not given by custom
 * properties: not every program that shows SVG knows those.
 *
 * Group colours were chosen so that any two stay apart for each of the three kinds of colour blindness, and stand out
 * from a card by 3 to 1; the tag's name always stands beside its colour.
 */

import { FONT } from './graph-model.js';

export interface Theme {
  readonly canvas: string;
  readonly card: string;
  readonly border: string;
  readonly ink: string;
  readonly muted: string;
  readonly start: string;
  readonly post: string;
  readonly groups: readonly string[];
}

export const LIGHT: Theme = {
  canvas: '#f7f7f5',
  card: '#ffffff',
  border: '#d5d6d1',
  ink: '#191b1d',
  muted: '#5b6167',
  start: '#3f464c',
  post: '#767e85',
  groups: ['#1f45e8', '#e8711f', '#14a673', '#c271c4', '#5a3c94', '#633c08', '#1d4757', '#e5174f'],
};

export const DARK: Theme = {
  canvas: '#121416',
  card: '#1c1f22',
  border: '#3a4046',
  ink: '#edeff0',
  muted: '#a2abb3',
  start: '#c3cad0',
  post: '#858f98',
  groups: ['#4a72f7', '#f2a817', '#23bc74', '#cf2f9c', '#a396e8', '#d0ef7d', '#a7e3fa', '#fcd7c3'],
};

export const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';
export const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", "Liberation Sans", sans-serif';

export function groupClass(group: number): string {
  return `g${group % LIGHT.groups.length}`;
}

/** The style sheet of the picture itself, shared by the SVG file and the page. */
export function pictureStyle(): string {
  return `${shapes()}\n${colours(LIGHT)}\n@media (prefers-color-scheme: dark) {\n${colours(DARK)}\n}`;
}

function shapes(): string {
  return `.picture text { font-family: ${MONO}; font-size: ${FONT.small}px; }
.picture .id { font-size: ${FONT.id}px; font-weight: 600; }
.picture .tag-text { font-size: ${FONT.tag}px; }
.picture .card, .picture .copy { stroke-width: 1; }
.picture .icon { fill: none; stroke-width: 1.4; stroke-linejoin: round; stroke-linecap: round; }
.picture .line, .picture .head { fill: none; stroke-linejoin: round; stroke-linecap: round; }
.picture .start .line { stroke-width: 1.7; }
.picture .post .line { stroke-width: 2; stroke-dasharray: 1 4.5; }
.picture .head { stroke-width: 1.8; }
.picture .link text { paint-order: stroke; stroke-width: 4; stroke-linejoin: round; }
.picture .tag { fill-opacity: 0.16; }`;
}

function colours(theme: Theme): string {
  const groups = theme.groups.map((colour, index) => `.picture .g${index} { fill: ${colour}; }`).join('\n');
  return `.picture .canvas { fill: ${theme.canvas}; }
.picture text { fill: ${theme.ink}; }
.picture .muted { fill: ${theme.muted}; }
.picture .card, .picture .copy { fill: ${theme.card}; stroke: ${theme.border}; }
.picture .icon { stroke: ${theme.muted}; }
.picture .main .card { fill: ${theme.ink}; stroke: ${theme.ink}; }
.picture .main text, .picture .main .muted { fill: ${theme.card}; }
.picture .main .tag { fill: ${theme.card}; fill-opacity: 0.22; }
.picture .main .icon { stroke: ${theme.card}; }
.picture .start .line, .picture .start .head { stroke: ${theme.start}; }
.picture .post .line, .picture .post .head { stroke: ${theme.post}; }
.picture .link text { stroke: ${theme.canvas}; }
.picture .tag-rest { fill: ${theme.border}; }
${groups}`;
}
