/**
 * Gives: the page's script as text. It is plain JavaScript for browsers and is made of parts that are read in this
 * order: the program and its look-ups, zoom and pan, what stands out, the side panel, and here what is selected and
 * which events lead where.
 *
 * The selected stage is the fragment of the address: links between stages are links, the browser's way back works, and
 * an address can be handed on.
 */

import { clientLight } from './html-client-light.js';
import { clientPanel } from './html-client-panel.js';
import { clientState } from './html-client-state.js';
import { clientView } from './html-client-view.js';
import { tokenize } from './html-tokens.js';

const events = `
function select(index) {
  const fragment = index < 0 ? '#' : '#' + encodeURIComponent(stages[index].id);
  if (location.hash !== fragment) location.hash = fragment;
  followAddress();
}

function addressedStage() {
  try {
    return indexOf.get(decodeURIComponent(location.hash.slice(1))) ?? -1;
  } catch {
    return -1;
  }
}

function followAddress() {
  const index = addressedStage();
  if (index === state.selected && (index >= 0) === !panel.hidden) return;
  const before = state.selected;
  state.selected = index;
  if (index < 0) {
    hidePanel();
    onResize();
  } else {
    showPanel(stageView(index));
    onResize();
    holdFocus(index);
  }
  stageNodes.forEach((node, other) => node.setAttribute('aria-expanded', String(other === index)));
  if (index < 0 && before >= 0 && panel.contains(document.activeElement)) stageNodes[before].focus();
  paint();
}

/** One stage at a time can be reached with the tabulator; the arrow keys lead from stage to stage. */
function holdFocus(index) {
  for (const node of stageNodes) node.setAttribute('tabindex', '-1');
  stageNodes[index]?.setAttribute('tabindex', '0');
}

function stageAt(target) {
  const node = target instanceof Element ? target.closest('.stage') : null;
  return node === null ? -1 : Number(node.dataset.stage);
}

/** The nearest stage in a direction; what lies sideways counts as farther. */
function neighbour(index, dx, dy) {
  const from = boxes[index];
  let best = -1;
  let bestDistance = Infinity;
  boxes.forEach((box, other) => {
    const x = box.x + box.width / 2 - from.x - from.width / 2;
    const y = box.y + box.height / 2 - from.y - from.height / 2;
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (other === index || along <= 4 || aside > along * 3) return;
    if (along + 2 * aside < bestDistance) {
      best = other;
      bestDistance = along + 2 * aside;
    }
  });
  return best;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onArrow(event) {
  const [dx, dy] = ARROWS[event.key];
  const focused = stageAt(document.activeElement);
  event.preventDefault();
  if (focused < 0) {
    pan(-dx * 80, -dy * 80);
    return;
  }
  const next = neighbour(focused, dx, dy);
  if (next < 0) return;
  holdFocus(next);
  stageNodes[next].focus();
  reveal(next);
}

function clearAll() {
  state.group = null;
  state.placement = null;
  state.query = '';
  search.value = '';
  select(-1);
  hidePanel();
  paint();
}

function onKey(event) {
  if (event.key === 'Escape') {
    clearAll();
    return;
  }
  const inText = event.target instanceof HTMLInputElement;
  if (inText || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    search.focus();
  } else if (event.key === '+' || event.key === '=') zoomBy(1.25);
  else if (event.key === '-') zoomBy(0.8);
  else if (event.key === '0') fitAll();
  else if (event.key in ARROWS && !panel.contains(event.target)) onArrow(event);
  else if ((event.key === 'Enter' || event.key === ' ') && stageAt(event.target) >= 0) {
    event.preventDefault();
    select(stageAt(event.target));
    document.getElementById('panel-title').focus();
  }
}

function firstMatch() {
  const lit = litStages();
  const [first] = state.query.trim() === '' || lit === null ? [] : lit;
  if (first === undefined) return;
  select(first);
  if (view.scale < FAR_SCALE) centreOn(first);
}

svg.addEventListener('wheel', onWheel, { passive: false });
svg.addEventListener('pointerdown', onPointerDown);
svg.addEventListener('pointermove', onPointerMove);
svg.addEventListener('pointerup', onPointerEnd);
svg.addEventListener('pointercancel', onPointerEnd);
svg.addEventListener('click', (event) => {
  if (dragged) return;
  select(stageAt(event.target));
});
svg.addEventListener('pointerover', (event) => {
  const index = stageAt(event.target);
  if (event.pointerType === 'touch' || index === state.hovered) return;
  state.hovered = index;
  paint();
});
svg.addEventListener('pointerleave', () => {
  state.hovered = -1;
  paint();
});
// On the document: a picture that listens for the focus itself would be given it by a click.
document.addEventListener('focusin', (event) => {
  const index = stageAt(event.target);
  if (index >= 0 && stageNodes[index].matches(':focus-visible')) reveal(index);
});
search.addEventListener('input', () => {
  state.query = search.value;
  paint();
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') firstMatch();
});
for (const button of document.querySelectorAll('#legend [data-group]')) {
  button.addEventListener('click', () => toggleGroup(button.dataset.group));
}
for (const button of document.querySelectorAll('#legend [data-placement]')) {
  button.addEventListener('click', () => togglePlacement(button.dataset.placement));
}
document.getElementById('zoom-in').addEventListener('click', () => zoomBy(1.25));
document.getElementById('zoom-out').addEventListener('click', () => zoomBy(0.8));
document.getElementById('zoom-fit').addEventListener('click', fitAll);
document.getElementById('show-unresolved')?.addEventListener('click', () => {
  state.selected = -1;
  showPanel(unresolvedView());
  onResize();
  paint();
});
document.addEventListener('keydown', onKey);
addEventListener('hashchange', followAddress);
addEventListener('resize', onResize);

firstView();
holdFocus(Math.max(0, stages.findIndex((stage) => stage.kind === 'main')));
followAddress();
// An address that names a stage is a way to show it; a picture that fits shows it anyway.
if (state.selected >= 0 && view.scale < 0.85) centreOn(state.selected);
`;

const groups = `
const groupNumber = new Map();
for (const stage of stages) for (const tag of stage.tags) if (!groupNumber.has(tag)) groupNumber.set(tag, groupNumber.size);
`;

export function clientScript(groupColours: number): string {
  const parts = [tokenize.toString(), clientState, groups, clientView, clientLight, clientPanel, events];
  return `'use strict';\n{\nconst groupColours = ${groupColours};\n${parts.join('\n')}}\n`;
}
