/**
 * Part of the page's script: the program as it was embedded, the look-ups over it, and the little that may change.
 */
export const clientState = `
const program = JSON.parse(document.getElementById('program').textContent);
const stages = program.fluxions;
const indexOf = new Map(stages.map((stage, index) => [stage.id, index]));
const svg = document.getElementById('picture');
const scene = document.getElementById('scene');
const panel = document.getElementById('panel');
const search = document.getElementById('search');
const stageNodes = [...svg.querySelectorAll('.stage')];
const linkNodes = [...svg.querySelectorAll('.links .link')];
const links = linkNodes.map((node) => ({ node, from: Number(node.dataset.from), to: Number(node.dataset.to) }));
const boxes = stageNodes.map((node) => {
  const { x, y, width, height } = node.dataset;
  return { x: Number(x), y: Number(y), width: Number(width), height: Number(height) };
});

const downOf = stages.map(() => []);
const upOf = stages.map(() => []);
const streamsInto = stages.map(() => []);
for (const link of links) {
  downOf[link.from].push(link.to);
  upOf[link.to].push(link.from);
}
stages.forEach((stage, from) => {
  for (const stream of stage.streams) {
    for (const dest of stream.dest) {
      if (indexOf.has(dest)) streamsInto[indexOf.get(dest)].push({ stream, from });
    }
  }
});

/** What a search looks through: names, files, routes and events, groups. */
const searchText = stages.map((stage, index) =>
  [
    stage.id,
    stage.at.module + ':' + stage.at.line,
    stage.tags.join(' '),
    stage.context.join(' '),
    streamsInto[index].map(({ stream }) => (stream.label ?? '') + ' ' + stream.callee).join(' '),
  ]
    .join(' ')
    .toLowerCase(),
);

const state = { selected: -1, hovered: -1, group: null, placement: null, query: '' };
`;
