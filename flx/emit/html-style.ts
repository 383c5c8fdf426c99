/**
 * Gives: the page's style sheet. Light and dark follow the reader's system; sizes come from one scale (11, 12, 14, 17),
 * distances from steps of 4 pixels.
 */

import { DARK, LIGHT, MONO, pictureStyle, SANS, type Theme } from './graph-theme.js';

export function pageStyle(): string {
  return [
    `:root { color-scheme: light dark; ${variables(LIGHT)} --accent: #0b5cad; --sunken: #efefec; --code: #f4f4f1; --faint: #e3e4e0; ${TOKENS_LIGHT} }`,
    `@media (prefers-color-scheme: dark) { :root { ${variables(DARK)} --accent: #7cbcff; --sunken: #24282c; --code: #16181b; --faint: #262b2f; ${TOKENS_DARK} } }`,
    pictureStyle(),
    ...LIGHT.groups.map((_, index) => `.s${index} { background: var(--group-${index}); }`),
    FRAME,
    PICTURE,
    LEGEND,
    PANEL,
    NARROW,
  ].join('\n');
}

const TOKENS_LIGHT =
  '--tok-comment: #6a7178; --tok-string: #2c6e3f; --tok-number: #8a4b00; --tok-keyword: #7a2f8f; --tok-regex: #a1362b;';
const TOKENS_DARK =
  '--tok-comment: #8f99a2; --tok-string: #8fce9b; --tok-number: #efb36b; --tok-keyword: #d9a3ea; --tok-regex: #f2998f;';

function variables(theme: Theme): string {
  const groups = theme.groups.map((colour, index) => `--group-${index}: ${colour};`).join(' ');
  return (
    `--canvas: ${theme.canvas}; --card: ${theme.card}; --border: ${theme.border}; --ink: ${theme.ink}; ` +
    `--muted: ${theme.muted}; --start: ${theme.start}; --post: ${theme.post}; ${groups}`
  );
}

const FRAME = `
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr); background: var(--canvas); color: var(--ink);
  font: 14px/1.5 ${SANS}; -webkit-text-size-adjust: 100%; overflow: hidden; }
body.has-panel { grid-template-columns: minmax(0, 1fr) minmax(360px, 32vw); }
h1, h2, h3, p, ul { margin: 0; padding: 0; }
ul { list-style: none; }
button, input { font: inherit; color: inherit; }
button { cursor: pointer; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.top { grid-column: 1 / -1; display: flex; align-items: center; gap: 24px; padding: 12px 24px; background: var(--card);
  border-bottom: 1px solid var(--border); }
.heading { min-width: 0; flex: 1; }
h1 { font: 600 17px/1.4 ${MONO}; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.summary { color: var(--muted); font-size: 14px; }
.summary button { padding: 0; border: 0; background: none; color: var(--accent); text-decoration: underline; text-underline-offset: 2px; }
.search { position: relative; flex: 0 1 320px; }
.search input { width: 100%; padding: 8px 40px 8px 36px; border: 1px solid var(--border); border-radius: 8px; background: var(--canvas);
  font-size: 14px; }
.search input::placeholder { color: var(--muted); opacity: 1; }
.search input::-webkit-search-cancel-button { display: none; }
.search svg { position: absolute; left: 12px; top: 12px; width: 14px; height: 14px; fill: none; stroke: var(--muted); stroke-width: 1.8; stroke-linecap: round; }
.search kbd { position: absolute; right: 10px; top: 9px; padding: 0 6px; border: 1px solid var(--border); border-radius: 4px;
  color: var(--muted); font: 11px/18px ${MONO}; }
.search input:focus ~ kbd { visibility: hidden; }
.matches { position: absolute; right: 12px; top: 9px; color: var(--muted); font-size: 12px; background: var(--canvas); padding-left: 8px; }
.matches:empty { display: none; }
.hush { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }`;

const PICTURE = `
.area { position: relative; min-width: 0; min-height: 0; }
#picture { display: block; width: 100%; height: 100%; touch-action: none; cursor: grab; user-select: none; -webkit-user-select: none; }
#picture.dragging { cursor: grabbing; }
.stage { cursor: pointer; outline: none; }
.picture .stage:hover .card { stroke: var(--muted); }
.picture .stage.mate .card { stroke: var(--muted); }
.picture .stage.selected .card, .picture .stage:focus-visible .card { stroke: var(--accent); stroke-width: 2.5; }
.picture.quiet .stage:not(.lit):not(.mate) { opacity: 0.2; }
/* A colour and not a transparency: on the trunk many links lie on top of each other. */
.picture.quiet .links .line, .picture.quiet .links .head { stroke: var(--faint); }
.picture.quiet .links text { opacity: 0.25; }
#lit-links { pointer-events: none; }
#lit-links .line { stroke-width: 2.4; }
.picture .far-id { display: none; font-size: 20px; font-weight: 600; }
.picture.far .far-id { display: inline; }
.picture.far .stage text:not(.far-id), .picture.far .tag, .picture.far .tag-rest, .picture.far .icon, .picture.far .link text { display: none; }
.zoom { position: absolute; right: 24px; bottom: 24px; display: flex; flex-direction: column; border: 1px solid var(--border);
  border-radius: 8px; background: var(--card); overflow: hidden; }
.zoom button { width: 36px; height: 36px; border: 0; background: none; color: var(--ink); font-size: 17px; line-height: 1; }
.zoom button + button { border-top: 1px solid var(--border); }
.zoom button:hover { background: var(--sunken); }
.zoom button:focus-visible { outline-offset: -3px; }
.zoom svg { width: 14px; height: 14px; fill: none; stroke: currentColor; stroke-width: 1.6; vertical-align: -1px; }
.empty { position: absolute; inset: 0; display: grid; place-items: center; color: var(--muted); pointer-events: none; }`;

const LEGEND = `
#legend { position: absolute; left: 24px; bottom: 24px; right: 84px; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 20px;
  width: fit-content; max-height: min(30%, 124px); overflow: auto; padding: 8px 12px; border: 1px solid var(--border); border-radius: 10px; background: var(--card); font-size: 12px; }
#legend div { display: flex; flex-wrap: wrap; align-items: center; gap: 4px; }
#legend .key { display: inline-flex; align-items: center; gap: 8px; padding: 0 4px; color: var(--muted); }
#legend .key + .key { margin-left: 8px; }
#legend .key svg { width: 22px; height: 13px; overflow: visible; }
.chip { display: inline-flex; align-items: center; gap: 6px; padding: 3px 8px; border: 1px solid transparent; border-radius: 6px; background: none; font-size: 12px; line-height: 18px; }
.chip:hover { background: var(--sunken); }
.chip[aria-pressed='true'] { border-color: var(--ink); background: var(--sunken); }
.chip svg { width: 13px; height: 13px; fill: none; stroke: var(--muted); stroke-width: 1.4; stroke-linejoin: round; stroke-linecap: round; }
.chip b { font-weight: 400; color: var(--muted); font-variant-numeric: tabular-nums; }
.chip .name { max-width: 220px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-family: ${MONO}; }
.swatch { width: 5px; height: 14px; border-radius: 2.5px; flex: none; }`;

const PANEL = `
#panel { min-height: 0; overflow: auto; padding: 20px 24px 32px; border-left: 1px solid var(--border); background: var(--card); }
.panel-head { display: flex; align-items: flex-start; justify-content: space-between; gap: 12px; }
.panel-head h2 { font: 600 17px/1.35 ${MONO}; overflow-wrap: anywhere; outline: none; }
.panel-head p { color: var(--muted); font-size: 12px; }
.panel-head .close { flex: none; width: 32px; height: 32px; margin: -4px -8px 0 0; border: 0; border-radius: 8px; background: none; color: var(--muted); font-size: 20px; line-height: 1; }
.panel-head .close:hover { background: var(--sunken); color: var(--ink); }
#panel h3 { margin: 24px 0 8px; font-size: 12px; font-weight: 600; color: var(--muted); }
.tags { display: flex; flex-wrap: wrap; gap: 4px; margin: 12px 0 0 -8px; font-family: ${MONO}; }
.tags:empty { display: none; }
.placement { margin-top: 16px; padding: 12px 14px; border-radius: 8px; background: var(--sunken); }
.placement strong { display: block; }
.reason { margin-top: 6px; overflow-wrap: anywhere; }
.lift { margin-top: 4px; color: var(--muted); overflow-wrap: anywhere; }
.lift b { font-weight: 600; color: var(--ink); }
.where { color: var(--muted); font-size: 12px; overflow-wrap: anywhere; }
pre { margin: 0; padding: 12px 14px; border: 1px solid var(--border); border-radius: 8px; background: var(--code); overflow: auto; max-height: 60vh; }
pre code { font: 12px/1.6 ${MONO}; tab-size: 2; }
#panel code { font-family: ${MONO}; }
.tok-comment { color: var(--tok-comment); font-style: italic; }
.tok-string { color: var(--tok-string); }
.tok-number { color: var(--tok-number); }
.tok-keyword { color: var(--tok-keyword); }
.tok-regex { color: var(--tok-regex); }
.tok-stream { color: var(--accent); font-weight: 600; }
.tok-dest { font-weight: 600; }
.streams li, .variables li, .unresolved li { padding: 8px 0; border-top: 1px solid var(--border); }
.streams li:first-child, .variables li:first-child { border-top: 0; padding-top: 0; }
.streams li:not(.none) { display: grid; grid-template-columns: 28px minmax(0, 1fr); }
.arrow { font: 600 14px/1.5 ${MONO}; }
.arrow.start { color: var(--start); }
.arrow.post { color: var(--post); }
.stream-name { font-weight: 600; overflow-wrap: anywhere; }
.stops { overflow-wrap: anywhere; }
.stops a, .message { font: 12px/1.6 ${MONO}; overflow-wrap: anywhere; }
.variables code { margin-right: 12px; font-weight: 600; font-size: 12px; overflow-wrap: anywhere; }
.class { font-size: 12px; }
.unresolved { margin-top: 16px; }
.unresolved code { font-weight: 600; margin-right: 8px; }
.none { color: var(--muted); }`;

const NARROW = `
@media (max-width: 860px) {
  body.has-panel { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto minmax(0, 1fr) minmax(0, 1.2fr); }
  #panel { border-left: 0; border-top: 1px solid var(--border); padding: 16px 16px 24px; }
  .top { flex-wrap: wrap; gap: 8px 16px; padding: 12px 16px; }
  .heading { flex: 1 1 220px; }
  .search { flex: 1 1 220px; }
  #legend { left: 12px; bottom: 12px; right: auto; max-width: calc(100% - 80px); flex-wrap: nowrap; overflow-x: auto; }
  #legend div { flex-wrap: nowrap; white-space: nowrap; }
  body.has-panel #legend, body.has-panel .zoom { display: none; }
  .zoom { right: 12px; bottom: 12px; }
}
@media (hover: none) {
  .search kbd { display: none; }
}
@media (prefers-reduced-motion: no-preference) {
  .stage { transition: opacity 120ms ease-out; }
}
@media (forced-colors: active) {
  .picture .card { stroke: CanvasText; }
}`;
