/**
 * Part of the page's script: which stages and links stand out, by search, legend, pointer or selection.
 */
export const clientLight = String.raw`
function reach(from, next) {
  const reached = new Set([from]);
  for (const index of reached) for (const other of next[index]) reached.add(other);
  return reached;
}

/** The stages that stand out, or null if all are equal. */
function litStages() {
  const words = state.query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length > 0 || state.group !== null || state.placement !== null) {
    return new Set(
      stages.flatMap((stage, index) => {
        const found = words.every((word) => searchText[index].includes(word));
        const inGroup = state.group === null || stage.tags.includes(state.group);
        const placed = state.placement === null || stage.placement === state.placement;
        return found && inGroup && placed ? [index] : [];
      }),
    );
  }
  const focus = state.hovered >= 0 ? state.hovered : state.selected;
  return focus < 0 ? null : new Set([...reach(focus, upOf), ...reach(focus, downOf)]);
}

function isOnPath(link, focus) {
  return (focus.up.has(link.from) && focus.up.has(link.to)) || (focus.down.has(link.from) && focus.down.has(link.to));
}

function pathFocus() {
  const filtered = state.query.trim() !== '' || state.group !== null || state.placement !== null;
  const focus = state.hovered >= 0 ? state.hovered : state.selected;
  return filtered || focus < 0 ? null : { index: focus, up: reach(focus, upOf), down: reach(focus, downOf) };
}

function paint() {
  const lit = litStages();
  const focus = pathFocus();
  const tags = focus === null ? [] : stages[focus.index].tags;
  svg.classList.toggle('quiet', lit !== null);
  stageNodes.forEach((node, index) => {
    node.classList.toggle('lit', lit !== null && lit.has(index));
    node.classList.toggle('mate', stages[index].tags.some((tag) => tags.includes(tag)));
    node.classList.toggle('selected', index === state.selected);
  });
  raiseLinks(
    links.filter((link) => {
      return focus === null ? lit !== null && lit.has(link.from) && lit.has(link.to) : isOnPath(link, focus);
    }),
  );
  for (const button of document.querySelectorAll('[data-group], [data-placement]')) {
    const { group, placement } = button.dataset;
    const on = group !== undefined ? state.group === group : state.placement === placement;
    button.setAttribute('aria-pressed', String(on));
  }
  tellMatches(lit);
}

/** Many links share a trunk: what stands out is drawn once more, on top of the others. */
function raiseLinks(raised) {
  const layer = document.getElementById('lit-links');
  layer.replaceChildren(...raised.map((link) => link.node.cloneNode(true)));
}

function tellMatches(lit) {
  const filtered = state.query.trim() !== '';
  const count = lit === null ? stages.length : lit.size;
  document.getElementById('matches').textContent = !filtered ? '' : count === 1 ? '1 match' : count + ' matches';
}

function toggleGroup(group) {
  state.group = state.group === group ? null : group;
  paint();
}

function togglePlacement(placement) {
  state.placement = state.placement === placement ? null : placement;
  paint();
}
`;
