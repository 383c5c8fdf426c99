/**
 * Reads: an Explanation.
 * Gives: text for a terminal: what can be replicated at a glance, then each chain, then what stands in the way.
 *
 * An obstacle that is met a few times is told where it is met. One that is met more often is told once, further down,
 * under the mark by which the steps refer to it: a group's tag, or a number.
 */
import type { LiveReport } from '../link-report.js';
import type { FluxionId, Place, Reason, Unresolved } from '../program.js';
import { BLANK, type Line, renderLines, row, text } from './explain-lines.js';
import type { Chain, ChainCount, Explanation, Group, Step } from './explain-model.js';
import { groupSentences, joinPlaces, listText, placeText, plural, shortenTo, variableLines } from './explain-words.js';
import type { FreeShare } from './free-share.js';

/** What the running app says. */
export interface Live {
  readonly link: LiveReport;
  readonly free: FreeShare;
}

export function explanationText(explanation: Explanation, live: Live | null): string {
  const marks = new Marks([...explanation.routes, ...explanation.chains]);
  const byKind = (kind: Chain['kind']): readonly Chain[] => explanation.chains.filter((chain) => chain.kind === kind);
  return renderLines([
    ...summaryLines(explanation, live),
    ...chainSection('Routes', explanation.routes, marks),
    ...chainSection('Middleware', byKind('middleware'), marks),
    ...chainSection('Timers, listeners and other callbacks from outside', byKind('start'), marks),
    ...chainSection('What start-up goes on with', byKind('post'), marks),
    ...chainSection('Called by nobody in this program', byKind('loose'), marks),
    ...reasonSection(marks),
    ...groupSection(explanation.groups),
    ...unresolvedSection(explanation.unresolved),
  ]);
}

// ----------------------------------------------------------------------------------------------------- summary

function summaryLines({ entry, summary, routes, chains, unresolved }: Explanation, live: Live | null): Line[] {
  const { total, replicated, group, home } = summary.fluxions;
  if (total === 0) return [text(`${entry}: no fluxions`)];
  const parts = [
    count(replicated, 'can be replicated', 'can be replicated'),
    count(group, 'is grouped', 'are grouped'),
    count(home, 'stays at home', 'stay at home'),
  ];
  const lines = [text(`${entry}: ${plural(total, 'fluxion')}; ${joinParts(parts)}`)];
  if (summary.routes.total > 0) lines.push(text(countText(summary.routes, 'route')));
  if (summary.middleware.total > 0) lines.push(text(countText(summary.middleware, 'middleware chain')));
  if (unresolved.length > 0) lines.push(text(`${plural(unresolved.length, 'rupture point')} unresolved`));
  if (live !== null) lines.push(...liveLines(live.link), ...freeLines(live.free));
  if (routes.length + chains.length > 0) lines.push(BLANK, ...LEGEND, ...(replicated > 0 ? GAIN : []));
  return lines;
}

function liveLines({ handlers, own, moving, others, aside, alone }: LiveReport): Line[] {
  const all = `${plural(handlers, 'function')} in its routers, ${own} of them the app’s own`;
  const lines = [text(`as the running app is: ${all}; ${moving} can run on every loop`)];
  if (moving === 0 && aside !== null) lines.push(text(`nothing leaves the main loop: ${aside}`));
  if (others.length > 0)
    lines.push(
      text(
        `on the main loop, as they are of packages or could not be followed: ${shortenTo(others.join(', '), MOST_OTHERS)}`,
      ),
    );
  for (const why of moving === 0 ? [] : new Set(alone)) {
    if (why === null) lines.push(text('connections: other loops take some when the main one has no time left'));
    else lines.push(text(`connections: the main loop takes them all, as ${why}`));
  }
  return lines;
}

function freeLines({ byRoutes, byTime }: FreeShare): Line[] {
  const said: string[] = [];
  if (byTime !== null) said.push(`${percent(byTime)} by the time that it took`);
  if (byRoutes !== null) said.push(`${percent(byRoutes)} if each route has as much of it`);
  return said.length === 0 ? [] : [text(`work that is free to move, as an estimate: ${said.join('; ')}`)];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

const MOST_OTHERS = 600;

const LEGEND: readonly Line[] = [
  text('replicated: on any loop; group: on the one loop of its group; home: on the main loop'),
  text('>> called again and again from outside; -> goes on with one flow, once'),
];

/** The scheduler decides that while the app runs. */
const GAIN: readonly Line[] = [
  text('what is replicated leaves the main loop once it is seen to cost more than a message does (0.3 ms)'),
];

function countText({ total, replicated, partly, bound }: ChainCount, what: string): string {
  const parts = [
    count(replicated, 'can run on every loop', 'can run on every loop'),
    count(partly, 'can in part', 'can in part'),
    count(bound, 'cannot', 'cannot'),
  ];
  return `${plural(total, what)}; ${joinParts(parts)}`;
}

function count(number: number, one: string, many: string): string {
  return number === 0 ? '' : `${number} ${number === 1 ? one : many}`;
}

function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(', ');
}

// ------------------------------------------------------------------------------------------------------ chains

function chainSection(title: string, chains: readonly Chain[], marks: Marks): Line[] {
  if (chains.length === 0) return [];
  return [...heading(title, chains.length), ...chains.flatMap((chain) => [BLANK, ...chainLines(chain, marks)])];
}

function heading(title: string, number: number): Line[] {
  return [BLANK, BLANK, text(`== ${title} (${number})`)];
}

function chainLines(chain: Chain, marks: Marks): Line[] {
  return [
    row(chain.label, verdict(chain), placeText(chain.place)),
    ...chain.steps.flatMap((step) => stepLines(step, marks)),
  ];
}

function verdict({ placements }: Chain): string {
  if (!placements.includes('replicated')) return placements.join(', ');
  return placements.length === 1 ? 'every loop' : 'in part';
}

const INDENT = 2;
const DEEPEST = 8;

function stepLines(step: Step, marks: Marks): Line[] {
  const { fluxion, stream, depth, cut } = step;
  const arrow = stream === null ? '' : stream.type === 'start' ? '>> ' : '-> ';
  const indent = ' '.repeat(INDENT + 3 * Math.min(depth, DEEPEST));
  const line = row(
    `${indent}${arrow}${fluxion.id}`,
    `${fluxion.placement}${stepMarks(step, marks)}`,
    placeText(fluxion.at),
    stepNotes(step).join('; '),
  );
  return cut.kind === 'none' ? [line, ...obstacleLines(step, marks, `${indent}   `)] : [line];
}

const MOST_TAGS = 2;
const LONGEST_CALLEE = 32;

function stepMarks({ fluxion: { tags }, reasons }: Step, marks: Marks): string {
  const more = tags.length > MOST_TAGS ? [`+${tags.length - MOST_TAGS}`] : [];
  const numbers = new Set(reasons.flatMap((reason) => marks.of(reason) ?? []));
  return [...tags.slice(0, MOST_TAGS), ...more, ...numbers].map((mark) => ` ${mark}`).join('');
}

function stepNotes({ stream, depth, cut, begins }: Step): readonly string[] {
  const notes: string[] = [];
  // The head of a chain is called by what the chain is labelled with.
  if (stream !== null && depth > 0) notes.push(shortenTo(stream.callee, LONGEST_CALLEE));
  if (stream?.inferred === true) notes.push('inferred');
  if (cut.kind === 'cycle') notes.push('again and again');
  if (cut.kind === 'repeat') notes.push(`see ${cut.chain ?? 'above'}`);
  if (begins > 0) notes.push(`begins ${plural(begins, 'other chain')}`);
  return notes;
}

function obstacleLines({ groups, reasons, fluxion }: Step, marks: Marks, indent: string): Line[] {
  return [
    ...groupSentences(
      groups.filter((group) => !marks.isFrequent(group)),
      fluxion.id,
    ).map((sentence) => text(sentence, indent)),
    ...reasons.flatMap((reason) => (marks.of(reason) === null ? reasonLines(reason, indent, fluxion.at) : [])),
  ];
}

function reasonLines({ message, loc, lift }: Reason, indent: string, known: Place): Line[] {
  const place = loc === null || placeText(loc) === placeText(known) ? '' : `${placeText(loc)}: `;
  return [text(`${place}${message}`, indent), ...liftLines(lift, indent)];
}

function liftLines(lift: string, indent: string): Line[] {
  return lift === '' ? [] : [text(lift, `${indent}to lift it: `)];
}

// ------------------------------------------------------------------------------------------------------- marks

/** Up to so many times it is told in place. That of a group takes a line, and its tag alone says less than a line. */
const MOST_TOLD = { reason: 2, group: 4 } as const;

interface Entry {
  readonly reason: Reason;
  readonly places: Place[];
  readonly fluxions: Set<FluxionId>;
  mentions: number;
}

/** Which obstacles are told further down, and their numbers, in the order in which they are met. */
class Marks {
  readonly #entries = new Map<string, Entry>();
  readonly #groups = new Map<Group, number>();
  readonly #numbers = new Map<string, number>();

  constructor(chains: readonly Chain[]) {
    for (const chain of chains) for (const step of chain.steps) this.#count(step);
    for (const [key, { mentions }] of this.#entries) {
      if (mentions > MOST_TOLD.reason) this.#numbers.set(key, this.#numbers.size + 1);
    }
  }

  of(reason: Reason): string | null {
    const number = this.#numbers.get(keyOf(reason));
    return number === undefined ? null : `[${number}]`;
  }

  isFrequent(group: Group): boolean {
    return group.tag !== null && (this.#groups.get(group) ?? 0) > MOST_TOLD.group;
  }

  listed(): readonly Entry[] {
    return [...this.#numbers.keys()].flatMap((key) => this.#entries.get(key) ?? []);
  }

  #count({ fluxion, cut, groups, reasons }: Step): void {
    if (cut.kind !== 'none') return;
    for (const group of groups) this.#groups.set(group, (this.#groups.get(group) ?? 0) + 1);
    for (const reason of reasons) {
      const key = keyOf(reason);
      const entry = this.#entries.get(key) ?? { reason, places: [], fluxions: new Set(), mentions: 0 };
      this.#entries.set(key, entry);
      entry.mentions += 1;
      if (reason.loc !== null && !entry.fluxions.has(fluxion.id)) entry.places.push(reason.loc);
      entry.fluxions.add(fluxion.id);
    }
  }
}

/** The same reason at another place is still the same obstacle. */
function keyOf({ code, message, lift }: Reason): string {
  return JSON.stringify([code, message, lift]);
}

// ------------------------------------------------------------------------- reasons, groups and rupture points

function reasonSection(marks: Marks): Line[] {
  const listed = marks.listed();
  if (listed.length === 0) return [];
  return [...heading('Reasons', listed.length), ...listed.flatMap((entry) => [BLANK, ...entryLines(entry, marks)])];
}

function entryLines({ reason, places, fluxions }: Entry, marks: Marks): Line[] {
  const mark = `${marks.of(reason)} `;
  const indent = ' '.repeat(mark.length);
  const where = places.length === 0 ? [] : [text(joinPlaces(places), `${indent}at `)];
  const who = text(listText([...fluxions]), `${indent}for `);
  return [text(reason.message, mark), ...where, who, ...liftLines(reason.lift, indent)];
}

function groupSection(groups: readonly Group[]): Line[] {
  if (groups.length === 0) return [];
  const hint = 'To spread a group, keep its variables where every loop can reach them, as in a database.';
  return [...heading('Groups', groups.length), text(hint), ...groups.flatMap((group) => [BLANK, ...groupLines(group)])];
}

function groupLines({ tag, fluxions, variables, reasons }: Group): Line[] {
  const members = tag === null ? [] : [text(listText(fluxions), '  fluxions: ')];
  const lifts = [...new Set(reasons.map((reason) => reason.lift))].flatMap((lift) => liftLines(lift, '  '));
  return [text(tag ?? `${fluxions.join(', ')} alone`), ...members, ...variableLines(variables), ...lifts];
}

const LONGEST_CALL = 60;

function unresolvedSection(unresolved: readonly Unresolved[]): Line[] {
  if (unresolved.length === 0) return [];
  const alike = new Map<string, Unresolved[]>();
  for (const one of unresolved) {
    const key = JSON.stringify([one.code, one.reason, one.lift]);
    const list = alike.get(key);
    if (list === undefined) alike.set(key, [one]);
    else list.push(one);
  }
  return [
    ...heading('Unresolved rupture points, left as they are', unresolved.length),
    ...[...alike.values()].flatMap((list) => [BLANK, ...unresolvedLines(list)]),
  ];
}

function unresolvedLines(list: readonly Unresolved[]): Line[] {
  const [first] = list;
  const calls = list.map(({ callee, loc }) => row(shortenTo(callee, LONGEST_CALL), '', placeText(loc)));
  return first === undefined ? [] : [...calls, text(first.reason, '  '), ...liftLines(first.lift, '  ')];
}
