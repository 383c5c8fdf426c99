/**
 * Part of the page's script: the side panel. Everything that comes from the user's program goes in as text
 * (`textContent`, text nodes, attributes), never as markup.
 */
export const clientPanel = String.raw`
const PLACEMENTS = {
  home: ['At home', 'Runs on the home loop, as written.'],
  group: ['Grouped', 'Runs with its group, one at a time, on one loop.'],
  replicated: ['Replicated', 'Runs on every loop.'],
};
const KINDS = {
  main: 'start-up code',
  start: 'begins a chain',
  post: 'continues a flow',
  rest: 'the rest behind an await',
};
const CLASSES = {
  scope: 'kept in this stage alone',
  stream: 'travels in the message',
  share: 'shared within the group',
};

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Signs that turn the direction of writing are shown, for they can make code look like other code. */
function visible(text) {
  return text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (sign) => {
    return '⟨U+' + sign.charCodeAt(0).toString(16).toUpperCase() + '⟩';
  });
}

function stageLink(id, className) {
  return el('a', { href: '#' + encodeURIComponent(id), class: className }, visible(id));
}

function placeOf(place) {
  return place.module + ':' + place.line;
}

function section(title, ...children) {
  return el('section', {}, el('h3', {}, title), ...children);
}

function sourceView(code) {
  const view = el('code', {});
  for (const token of tokenize(code, (id) => indexOf.has(id))) {
    if (token.kind === 'dest') view.append(stageLink(token.text, 'tok-dest'));
    else if (token.kind === 'plain') view.append(visible(token.text));
    else view.append(el('span', { class: 'tok-' + token.kind }, visible(token.text)));
  }
  return el('pre', { tabindex: '0', 'aria-label': 'Source' }, view);
}

function placementView(stage) {
  const [name, text] = PLACEMENTS[stage.placement];
  const box = el('div', { class: 'placement' }, el('p', {}, el('strong', {}, name), ' ' + text));
  for (const reason of stage.reasons) {
    const line = el('p', { class: 'reason' }, visible(reason.message));
    if (reason.loc !== null) line.append(' ', el('span', { class: 'where' }, visible(placeOf(reason.loc))));
    box.append(line);
    if (reason.lift !== '') box.append(el('p', { class: 'lift' }, el('b', {}, 'To lift it: '), visible(reason.lift)));
  }
  return box;
}

function tagButtons(stage) {
  const list = el('div', { class: 'tags' });
  for (const tag of stage.tags) {
    const number = groupNumber.get(tag);
    const button = el(
      'button',
      { type: 'button', class: 'chip', 'data-group': tag, 'aria-pressed': String(state.group === tag) },
      el('i', { class: 'swatch s' + (number % groupColours), 'aria-hidden': 'true' }),
      visible(tag),
    );
    button.addEventListener('click', () => toggleGroup(tag));
    list.append(button);
  }
  return list;
}

function streamRow(stream, ids, into) {
  const arrow = stream.type === 'start' ? '>>' : '->';
  const kind = stream.type === 'start' ? 'start' : 'post';
  const stops = el('span', { class: 'stops' }, into ? 'from ' : 'to ');
  ids.forEach((id, position) => {
    if (position > 0) stops.append(', ');
    stops.append(indexOf.has(id) ? stageLink(id, '') : visible(id));
  });
  return el(
    'li',
    {},
    el('span', { class: 'arrow ' + kind, title: kind }, arrow),
    el(
      'div',
      {},
      el('div', { class: 'stream-name' }, visible(stream.label ?? stream.callee)),
      stops,
      el('div', { class: 'where' }, (stream.label === null ? '' : visible(stream.callee) + ' · ') + visible(placeOf(stream.loc))),
      el('div', { class: 'message' }, '[' + visible(stream.message.join(', ')) + ']'),
    ),
  );
}

function streamList(rows) {
  return rows.length === 0 ? el('p', { class: 'none' }, 'none') : el('ul', { class: 'streams' }, ...rows);
}

/** A stage that many lead to names them once per stream of theirs, but no more than can be read. */
function limited(rows, most) {
  if (rows.length <= most) return rows;
  return [...rows.slice(0, most), el('li', { class: 'none' }, 'and ' + (rows.length - most) + ' more')];
}

function contextView(stage) {
  const names = [...stage.context];
  const facts = program.variables.filter((variable) => variable.fluxions.includes(stage.id));
  for (const fact of facts) if (!names.includes(fact.name)) names.push(fact.name);
  if (names.length === 0) return el('p', { class: 'none' }, 'none');
  const list = el('ul', { class: 'variables' });
  for (const name of names) {
    const fact = facts.find((variable) => variable.name === name);
    const row = el('li', {}, el('code', {}, visible(name)));
    if (fact !== undefined) {
      row.append(el('span', { class: 'class' }, CLASSES[fact.class]));
      const writes = fact.writes.map(placeOf).slice(0, 4).join(', ');
      const reads = fact.reads.map(placeOf).slice(0, 4).join(', ');
      if (writes !== '') row.append(el('div', { class: 'where' }, 'written at ' + visible(writes)));
      if (reads !== '') row.append(el('div', { class: 'where' }, 'read at ' + visible(reads)));
    }
    list.append(row);
  }
  return list;
}

function stageView(index) {
  const stage = stages[index];
  const into = streamsInto[index].map(({ stream, from }) => streamRow(stream, [stages[from].id], true));
  const out = stage.streams.map((stream) => streamRow(stream, stream.dest, false));
  return [
    panelHead(stage.id, placeOf(stage.at) + ' · ' + KINDS[stage.kind]),
    tagButtons(stage),
    placementView(stage),
    section('Source', sourceView(stage.code)),
    section('Streams in', streamList(limited(into, 40))),
    section('Streams out', streamList(limited(out, 200))),
    section('Context and variables', contextView(stage)),
  ];
}

function unresolvedView() {
  const list = el('ul', { class: 'unresolved' });
  for (const one of program.unresolved) {
    const row = el('li', {}, el('code', {}, visible(one.callee)), el('span', { class: 'where' }, visible(placeOf(one.loc))));
    row.append(el('p', { class: 'reason' }, visible(one.reason)));
    if (one.lift !== '') row.append(el('p', { class: 'lift' }, el('b', {}, 'To lift it: '), visible(one.lift)));
    list.append(row);
  }
  return [panelHead('Unresolved', 'calls whose callbacks could not be identified; they run at home'), list];
}

function panelHead(title, subtitle) {
  const close = el('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, '×');
  close.addEventListener('click', () => select(-1));
  const heading = el('h2', { id: 'panel-title', tabindex: '-1' }, visible(title));
  return el('div', { class: 'panel-head' }, el('div', {}, heading, el('p', {}, visible(subtitle))), close);
}

function showPanel(parts) {
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
  panel.hidden = false;
  document.body.classList.add('has-panel');
}

function hidePanel() {
  panel.hidden = true;
  document.body.classList.remove('has-panel');
}
`;
