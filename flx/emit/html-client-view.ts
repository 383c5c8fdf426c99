/**
 * Part of the page's script: zoom and pan by wheel, drag, two fingers, buttons and keys.
 */
export const clientView = `
const view = { x: 0, y: 0, scale: 1 };
/** Nobody has moved the picture since it was fitted: it may be fitted again when the window changes. */
let fitted = false;
const LEAST_SCALE = 0.05;
const MOST_SCALE = 3;
/** Below this the small texts are too small to read and give way to large names. */
const FAR_SCALE = 0.5;
/** At this all texts can be read. */
const NEAR_SCALE = 0.64;
const EDGE = 40;
const content = { width: Number(svg.dataset.width), height: Number(svg.dataset.height) };

function applyView() {
  scene.setAttribute('transform', 'translate(' + view.x + ' ' + view.y + ') scale(' + view.scale + ')');
  svg.classList.toggle('far', view.scale < FAR_SCALE);
}

function zoomTo(scale, x, y) {
  fitted = false;
  const next = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
  view.x = x - ((x - view.x) * next) / view.scale;
  view.y = y - ((y - view.y) * next) / view.scale;
  view.scale = next;
  applyView();
}

function zoomBy(factor) {
  zoomTo(view.scale * factor, svg.clientWidth / 2, svg.clientHeight / 2);
}

function fitScale() {
  const across = (svg.clientWidth - 2 * EDGE) / Math.max(1, content.width);
  const down = (svg.clientHeight - 2 * EDGE - legendRoom()) / Math.max(1, content.height);
  return Math.max(LEAST_SCALE, Math.min(across, down, 1.25));
}

/** The legend floats over the lower edge; what is fitted stays clear of it. */
function legendRoom() {
  const legend = document.getElementById('legend');
  return legend === null ? 0 : legend.offsetHeight;
}

function fitAll() {
  fitted = true;
  view.scale = fitScale();
  view.x = (svg.clientWidth - content.width * view.scale) / 2;
  view.y = (svg.clientHeight - legendRoom() - content.height * view.scale) / 2;
  applyView();
}

/** The whole picture where that can be read, else its beginning. */
function firstView() {
  const main = boxes[Math.max(0, stages.findIndex((stage) => stage.kind === 'main'))];
  fitAll();
  if (main === undefined || view.scale >= FAR_SCALE) return;
  fitted = false;
  view.scale = NEAR_SCALE;
  view.x = EDGE - main.x * view.scale;
  const middle = svg.clientHeight / 2 - (main.y + main.height / 2) * view.scale;
  view.y = Math.min(EDGE, middle);
  applyView();
}

/** The side panel came or went, or the window changed. */
function onResize() {
  if (fitted && (fitScale() >= FAR_SCALE || view.scale < FAR_SCALE)) fitAll();
  if (state.selected >= 0) reveal(state.selected);
}

/** Moves the picture as little as will bring the stage into sight. */
function reveal(index) {
  const box = boxes[index];
  const left = view.x + box.x * view.scale;
  const top = view.y + box.y * view.scale;
  const right = left + box.width * view.scale;
  const bottom = top + box.height * view.scale;
  const roomRight = svg.clientWidth - EDGE;
  const roomBottom = svg.clientHeight - EDGE - legendRoom();
  if (left < EDGE) view.x += EDGE - left;
  else if (right > roomRight) view.x -= Math.min(right - roomRight, left - EDGE);
  if (top < EDGE) view.y += EDGE - top;
  else if (bottom > roomBottom) view.y -= Math.min(bottom - roomBottom, top - EDGE);
  applyView();
}

/** Puts the stage in the middle, large enough to be read. */
function centreOn(index) {
  const box = boxes[index];
  fitted = false;
  view.scale = Math.max(view.scale, 0.85);
  view.x = svg.clientWidth / 2 - (box.x + box.width / 2) * view.scale;
  view.y = (svg.clientHeight - legendRoom()) / 2 - (box.y + box.height / 2) * view.scale;
  applyView();
}

function pan(dx, dy) {
  fitted = false;
  view.x += dx;
  view.y += dy;
  applyView();
}

function onWheel(event) {
  event.preventDefault();
  const bounds = svg.getBoundingClientRect();
  const lines = event.deltaMode === 1 ? 16 : 1;
  // A touchpad that scrolls sideways means to pan; a pinch arrives with the control key down.
  if (!event.ctrlKey && (event.shiftKey || event.deltaX !== 0)) {
    pan(-event.deltaX * lines - (event.shiftKey ? event.deltaY * lines : 0), event.shiftKey ? 0 : -event.deltaY * lines);
    return;
  }
  const speed = event.ctrlKey ? 0.01 : 0.0016;
  const factor = Math.exp(-event.deltaY * lines * speed);
  zoomTo(view.scale * factor, event.clientX - bounds.left, event.clientY - bounds.top);
}

const pointers = new Map();
let dragged = false;

function onPointerDown(event) {
  if (event.button !== 0) return;
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (pointers.size === 1) dragged = false;
}

function onPointerMove(event) {
  const before = pointers.get(event.pointerId);
  if (before === undefined) return;
  const dx = event.clientX - before.x;
  const dy = event.clientY - before.y;
  // A click may tremble; only what goes further is a drag.
  if (!dragged && Math.hypot(dx, dy) < 5) return;
  if (!dragged) svg.setPointerCapture(event.pointerId);
  dragged = true;
  svg.classList.add('dragging');
  if (pointers.size === 2) pinch(event);
  else pan(dx, dy);
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
}

function pinch(event) {
  const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
  const before = pointers.get(event.pointerId);
  const was = Math.hypot(before.x - other.x, before.y - other.y);
  const is = Math.hypot(event.clientX - other.x, event.clientY - other.y);
  const bounds = svg.getBoundingClientRect();
  const x = (event.clientX + other.x) / 2 - bounds.left;
  const y = (event.clientY + other.y) / 2 - bounds.top;
  if (was > 0) zoomTo((view.scale * is) / was, x, y);
}

function onPointerEnd(event) {
  pointers.delete(event.pointerId);
  if (pointers.size === 0) svg.classList.remove('dragging');
}
`;
