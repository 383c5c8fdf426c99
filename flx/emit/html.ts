/**
 * Reads: a FluxionProgram.
 * Gives: one page that shows its pipeline. It loads nothing: style, script, picture and program are in it, and its
 *        content security policy lets no other style and no other script run.
 *
 * Text of the user's program gets into the page in two ways only: escaped, as text in the picture, and as JSON that
 * cannot end its script element; the script puts it into the page as text.
 */

import { createHash } from 'node:crypto';
import type { Placement, ShownProgram } from '../program.js';
import { drawScene, layoutModel, placementIcon } from './graph-draw.js';
import { buildGraphModel, type GraphModel } from './graph-model.js';
import { escapeXml, num } from './graph-text.js';
import { LIGHT } from './graph-theme.js';
import { clientScript } from './html-client.js';
import { pageStyle } from './html-style.js';
import { summaryText } from './svg.js';

export function printHtml(program: ShownProgram): string {
  const model = buildGraphModel(program);
  const layout = layoutModel(model);
  const style = pageStyle();
  const script = clientScript(LIGHT.groups.length);
  const entry = escapeXml(program.entry);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${entry} · Fluxion</title>
<style>${style}</style>
</head>
<body>
<header class="top">
<div class="heading">
<h1>${entry}</h1>
<p class="summary">${escapeXml(summaryText(program))}${unresolvedButton(program)}</p>
</div>
<div class="search" role="search">
<input id="search" type="search" placeholder="Find a stage, route or file" aria-label="Find a stage, route or file" autocomplete="off" spellcheck="false">
<svg viewBox="0 0 14 14" aria-hidden="true"><circle cx="6" cy="6" r="4.6"/><path d="M9.6 9.6L13 13"/></svg>
<kbd aria-hidden="true">/</kbd>
<span id="matches" class="matches" role="status"></span>
</div>
</header>
<main class="area">
<p class="hush" id="help">Stages can be reached with the tabulator key and the arrow keys; Enter shows a stage, Escape leaves it. Plus and minus zoom, zero shows everything, slash searches.</p>
<svg id="picture" class="picture" role="group" aria-label="Pipeline of ${entry}" aria-describedby="help" data-width="${num(layout.width)}" data-height="${num(layout.height)}">
<g id="scene">
${drawScene(model, layout, { interactive: true })}
</g>
</svg>
${model.cards.length === 0 ? '<p class="empty">This program has no stages.</p>' : legend(program, model)}
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="zoom-in" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="zoom-out" aria-label="Zoom out" title="Zoom out (−)">−</button>
<button type="button" id="zoom-fit" aria-label="Show everything" title="Show everything (0)"><svg viewBox="0 0 14 14" aria-hidden="true"><path d="M1 5V1H5M9 1H13V5M13 9V13H9M5 13H1V9"/></svg></button>
</div>
</main>
<aside id="panel" aria-labelledby="panel-title" hidden></aside>
<script type="application/json" id="program">${embedJson(pageFacts(program))}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** What the script needs; the text of modules is not shown. */
function pageFacts(program: ShownProgram): unknown {
  const { version, entry, fluxions, variables, unresolved } = program;
  return { version, entry, fluxions, variables, unresolved };
}

/** JSON in which no character can end the element, open a comment or end a line of a script. */
export function embedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function policy(style: string, script: string): string {
  return [
    "default-src 'none'",
    `style-src '${hash(style)}'`,
    `script-src '${hash(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function unresolvedButton(program: ShownProgram): string {
  const count = program.unresolved.length;
  return count === 0 ? '' : ` · <button type="button" id="show-unresolved">${count} unresolved</button>`;
}

function legend(program: ShownProgram, model: GraphModel): string {
  const placements: readonly [Placement, string][] = [
    ['replicated', 'replicated'],
    ['group', 'grouped'],
    ['home', 'at home'],
  ];
  const byPlacement = placements.map(([placement, name]) => {
    const count = program.fluxions.filter((fluxion) => fluxion.placement === placement).length;
    return `<button type="button" class="chip" data-placement="${placement}" aria-pressed="false"><svg viewBox="0 0 13 13" aria-hidden="true"><path d="${placementIcon(placement)}"/></svg>${name} <b>${count}</b></button>`;
  });
  const byGroup = model.groups.map((tag, index) => {
    const count = program.fluxions.filter((fluxion) => fluxion.tags.includes(tag)).length;
    const name = escapeXml(tag);
    return `<button type="button" class="chip" data-group="${name}" aria-pressed="false" title="${name}"><i class="swatch s${index % LIGHT.groups.length}" aria-hidden="true"></i><span class="name">${name}</span> <b>${count}</b></button>`;
  });
  return `<div id="legend" class="picture" role="group" aria-label="Legend">
<div>${byPlacement.join('\n')}</div>
${byGroup.length === 0 ? '' : `<div>${byGroup.join('\n')}</div>`}
<div>${streamKey('start', 'M14 2L19 6.5L14 11M8 2L13 6.5L8 11', 'starts a chain')}${streamKey('post', 'M13 2L19 6.5L13 11', 'continues it')}</div>
</div>`;
}

function streamKey(type: 'start' | 'post', head: string, text: string): string {
  return `<span class="key"><svg viewBox="0 0 22 13" aria-hidden="true"><g class="${type}"><path class="line" d="M0 6.5H18"/><path class="head" d="${head}"/></g></svg>${text}</span>`;
}
