/**
 * Reads: summaries.
 * Gives: their throughput as one SVG file, a bar for each peer, as long as its ratio to `node app.js`; the line on its end is the
 *        range over the rounds. The bar of a peer that gave wrong answers is hollow. No script, nothing from outside, light and dark.
 */
import { PEERS, type Peer } from './peers.js';
import type { Spread, WorkloadSummary } from './summarise.js';
import { figure, peersOf } from './tables.js';

const WIDTH = 900;
const LABEL = 250;
const RIGHT = 150;
const TOP = 84;
const BAR = 13;
const GROUP_GAP = 14;
const LEGEND_ITEM = 124;
const COLOURS = ['#8a8f98', '#d08a3e', '#5b8fd6', '#2f9e62', '#7cc49a', '#9c6fc4', '#c96a7f'];

interface Bar {
  readonly peer: Peer;
  readonly ratio: Spread;
  readonly isWrong: boolean;
}

interface Group {
  readonly label: string;
  readonly bars: readonly Bar[];
}

export function printPicture(all: readonly WorkloadSummary[], machine: string): string {
  const groups = all.flatMap(groupsOf);
  const peers = peersOf(all);
  // A bar that is much longer than all others would leave nothing to see of them, so it is cut off.
  const most = Math.min(6, Math.max(2, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio.median)))) * 1.05;
  const scale = (WIDTH - LABEL - RIGHT) / most;
  let top = TOP;
  const drawn = groups.map((group) => {
    const text = drawGroup(group, top, scale, most);
    top += group.bars.length * BAR + GROUP_GAP;
    return text;
  });
  const height = top + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">
<title>Requests a second, in proportion to node app.js</title>
<style>
svg { font: 12px system-ui, sans-serif; fill: #1f2328; }
.canvas { fill: #ffffff; } .quiet { fill: #656d76; } .line { stroke: #d0d7de; } .range { stroke: #1f2328; }
@media (prefers-color-scheme: dark) {
  svg { fill: #e6edf3; } .canvas { fill: #0d1117; } .quiet { fill: #8d96a0; } .line { stroke: #30363d; } .range { stroke: #e6edf3; }
}
</style>
<rect class="canvas" width="100%" height="100%"/>
<text x="16" y="26" font-size="16" font-weight="600">Requests a second, in proportion to node app.js</text>
<text x="16" y="44" class="quiet">${escapeXml(machine)}; hollow: wrong answers</text>
${peers.map(drawLegend).join('\n')}
${drawAxis(most, scale, height)}
${drawn.join('\n')}
</svg>
`;
}

function groupsOf({ workload, peers }: WorkloadSummary): readonly Group[] {
  return workload.streams.map(({ name }) => ({
    label: name === 'all' ? workload.title : `${workload.title}: ${name}`,
    bars: peers.flatMap(({ peer, streams, wrong }) => {
      const ratio = streams.find((each) => each.name === name)?.rate.ratio;
      return ratio === null || ratio === undefined ? [] : [{ peer, ratio, isWrong: wrong > 0 }];
    }),
  }));
}

function drawLegend(peer: Peer, at: number): string {
  const x = 16 + at * LEGEND_ITEM;
  const label = `<text x="${x + 15}" y="65">${escapeXml(peer.label.replace('--placement ', ''))}</text>`;
  return `<rect x="${x}" y="56" width="10" height="10" fill="${colourOf(peer)}"/>${label}`;
}

function drawAxis(most: number, scale: number, height: number): string {
  const marks = Array.from({ length: Math.floor(most) + 1 }, (_, mark) => mark);
  return marks
    .map((mark) => {
      const x = LABEL + mark * scale;
      const line = `<line class="line" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${TOP - 6}" y2="${height - 18}"/>`;
      return `${line}<text class="quiet" x="${x.toFixed(1)}" y="${height - 6}" text-anchor="middle">${mark}</text>`;
    })
    .join('\n');
}

function drawGroup({ label, bars }: Group, top: number, scale: number, most: number): string {
  const middle = top + (bars.length * BAR) / 2 + 4;
  const name = `<text x="${LABEL - 12}" y="${middle}" text-anchor="end">${escapeXml(label)}</text>`;
  const drawn = bars.map(({ peer, ratio, isWrong }, at) => {
    const y = top + at * BAR;
    const colour = colourOf(peer);
    const end = LABEL + Math.min(ratio.median, most) * scale;
    const [from, to] = [ratio.least, ratio.most].map((each) => LABEL + Math.min(each, most) * scale);
    const fill = isWrong ? `fill="none" stroke="${colour}"` : `fill="${colour}"`;
    const bar = `<rect x="${LABEL}" y="${y + 1}" width="${(end - LABEL).toFixed(1)}" height="${BAR - 3}" ${fill}/>`;
    const range = `<line class="range" x1="${from?.toFixed(1)}" x2="${to?.toFixed(1)}" y1="${y + BAR / 2}" y2="${y + BAR / 2}"/>`;
    const text = `${figure(ratio.median)}${isWrong ? ' wrong' : ''}`;
    const number = `<text x="${(Math.max(end, to ?? 0) + 6).toFixed(1)}" y="${y + BAR - 3}" font-size="10">${text}</text>`;
    return `${bar}${range}${number}`;
  });
  return `<g>${name}${drawn.join('')}</g>`;
}

/** The same in each picture, whoever else is in it. */
function colourOf(peer: Peer): string {
  return COLOURS[PEERS.indexOf(peer)] ?? 'currentColor';
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
