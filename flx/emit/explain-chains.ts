/**
 * Chains: the ways through a program, each from where it begins.
 *
 * Reads: a FluxionProgram, and the obstacles of its fluxions.
 * Gives: chains in source order, routes and middleware among them.
 *
 * A fluxion that many chains run through appears in each of them, but what it sends to is shown only once, so the
 * explanation stays linear in the size of the program.
 */
import type { Fluxion, FluxionId, FluxionProgram, Place, Placement, StreamFact } from '../program.js';
import type { Chain, ChainKind, Obstacles, Step, StepCut } from './explain-model.js';

interface Beginning {
  readonly kind: ChainKind;
  readonly label: string;
  /** What others call it by. */
  readonly name: string;
  readonly place: Place;
  readonly heads: readonly Head[];
}

/** A fluxion to be shown, and how it is reached. */
interface Head {
  readonly fluxion: Fluxion;
  readonly stream: StreamFact | null;
  readonly depth: number;
}

export function collectChains(program: FluxionProgram, obstacles: ReadonlyMap<FluxionId, Obstacles>): readonly Chain[] {
  const walker = new Walker(program, obstacles);
  const chains = findBeginnings(program, walker).map((beginning) => walker.walk(beginning));
  for (const fluxion of unreachedFirst(program)) {
    if (walker.isShown(fluxion.id) || fluxion.kind === 'main') continue;
    const heads = [{ fluxion, stream: null, depth: 0 }];
    const { id, at } = fluxion;
    chains.push(walker.walk({ kind: 'loose', label: id, name: id, place: at, heads }));
  }
  return chains;
}

function findBeginnings(program: FluxionProgram, walker: Walker): readonly Beginning[] {
  const beginnings: Beginning[] = [];
  for (const fluxion of program.fluxions) {
    for (const stream of fluxion.streams) {
      const kind = kindOf(stream);
      // Inside of a chain, a timer or a listener is a step of that chain.
      if (!hasOwnChain(kind) && fluxion.kind !== 'main') continue;
      const label = labelOf(stream, kind);
      beginnings.push({ kind, label, name: label, place: stream.loc, heads: walker.headsOf(stream, 0) });
    }
  }
  return nameUniquely(inSourceOrder(beginnings, program));
}

/** Routers that are mounted at different paths have routes of one label. */
function nameUniquely(beginnings: readonly Beginning[]): readonly Beginning[] {
  const counts = new Map<string, number>();
  for (const { label } of beginnings) counts.set(label, (counts.get(label) ?? 0) + 1);
  return beginnings.map((beginning) => {
    const { label, place } = beginning;
    return counts.get(label) === 1 ? beginning : { ...beginning, name: `${place.module}:${place.line}` };
  });
}

function inSourceOrder(beginnings: readonly Beginning[], program: FluxionProgram): readonly Beginning[] {
  const order = new Map(program.modules.map((module, index) => [module.id, index]));
  const moduleIndex = (place: Place): number => order.get(place.module) ?? -1;
  return beginnings.toSorted(
    (left, right) =>
      moduleIndex(left.place) - moduleIndex(right.place) ||
      left.place.line - right.place.line ||
      left.place.column - right.place.column,
  );
}

/** Those that nothing leads to come first, so that chains are shown from their beginning. */
function unreachedFirst(program: FluxionProgram): readonly Fluxion[] {
  const reached = new Set(program.fluxions.flatMap((fluxion) => fluxion.streams.flatMap((stream) => stream.dest)));
  return [
    ...program.fluxions.filter((fluxion) => !reached.has(fluxion.id)),
    ...program.fluxions.filter((fluxion) => reached.has(fluxion.id)),
  ];
}

// ------------------------------------------------------------------------------------------------------- kinds

const METHOD_AND_PATH = /^[A-Z][A-Z-]* \S/;
const METHOD_ALONE = /^(?:ALL|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT)$/;
const MIDDLEWARE_LABEL = /^(?:use|param)\b/i;
const MIDDLEWARE_CALLEE = /[.\]](?:use|param)$/;

function kindOf(stream: StreamFact): ChainKind {
  if (stream.type === 'post') return 'post';
  const label = stream.label ?? '';
  if (MIDDLEWARE_LABEL.test(label) || MIDDLEWARE_CALLEE.test(stream.callee)) return 'middleware';
  return METHOD_AND_PATH.test(label) || METHOD_ALONE.test(label) ? 'route' : 'start';
}

function hasOwnChain(kind: ChainKind): boolean {
  return kind === 'route' || kind === 'middleware';
}

/** `server.on upgrade` rather than `on upgrade`, and the callee where a route's address is not in the label. */
function labelOf({ label, callee }: StreamFact, kind: ChainKind): string {
  if (label === null || label === '') return oneLine(callee);
  if (kind === 'route') return METHOD_ALONE.test(label) ? `${label} (${oneLine(callee)})` : label;
  if (label.startsWith(callee)) return label;
  const method = callee.slice(callee.lastIndexOf('.') + 1);
  const rest = label === method || label.startsWith(`${method} `) ? label.slice(method.length + 1) : label;
  return rest === '' ? oneLine(callee) : `${oneLine(callee)} ${rest}`;
}

/** Calls are written over several lines at times. */
function oneLine(source: string): string {
  return source.replace(/\s+/g, ' ');
}

// ------------------------------------------------------------------------------------------------------- steps

const PLACEMENTS: readonly Placement[] = ['replicated', 'group', 'home'];

class Walker {
  readonly #fluxions: ReadonlyMap<FluxionId, Fluxion>;
  readonly #obstacles: ReadonlyMap<FluxionId, Obstacles>;
  readonly #reaching: ReadonlyMap<Placement, ReadonlySet<FluxionId>>;
  /** Name of the chain in which a fluxion was shown with all that it sends to. */
  readonly #shownIn = new Map<FluxionId, string>();

  constructor(program: FluxionProgram, obstacles: ReadonlyMap<FluxionId, Obstacles>) {
    this.#fluxions = new Map(program.fluxions.map((fluxion) => [fluxion.id, fluxion]));
    this.#obstacles = obstacles;
    this.#reaching = findReaching(program);
  }

  isShown(id: FluxionId): boolean {
    return this.#shownIn.has(id);
  }

  headsOf(stream: StreamFact, depth: number): readonly Head[] {
    return stream.dest.flatMap((id) => {
      const fluxion = this.#fluxions.get(id);
      return fluxion === undefined ? [] : [{ fluxion, stream, depth }];
    });
  }

  /** With a stack of its own: chains of generated programs are deeper than the call stack. */
  walk({ kind, label, name, place, heads }: Beginning): Chain {
    const steps: Step[] = [];
    const path = new Path();
    const waiting = heads.toReversed();
    for (let head = waiting.pop(); head !== undefined; head = waiting.pop()) {
      path.leaveBelow(head.depth);
      const next = this.#nextOf(head);
      const cut = this.#cutOf(head, path, name, next.length > 0);
      steps.push(this.#step(head, cut));
      path.add(head.fluxion.id);
      if (cut.kind !== 'none') continue;
      this.#shownIn.set(head.fluxion.id, name);
      for (const after of next.toReversed()) waiting.push(after);
    }
    return { kind, label, place, placements: this.#placementsOf(heads), steps };
  }

  #nextOf({ fluxion, depth }: Head): readonly Head[] {
    const inside = fluxion.streams.filter((stream) => !hasOwnChain(kindOf(stream)));
    return inside.flatMap((stream) => this.headsOf(stream, depth + 1));
  }

  #cutOf({ fluxion }: Head, path: Path, chain: string, goesOn: boolean): StepCut {
    if (path.has(fluxion.id)) return { kind: 'cycle' };
    const shown = this.#shownIn.get(fluxion.id);
    if (!goesOn || shown === undefined) return { kind: 'none' };
    return { kind: 'repeat', chain: shown === chain ? null : shown };
  }

  #step({ fluxion, stream, depth }: Head, cut: StepCut): Step {
    const begins = fluxion.streams.filter((own) => hasOwnChain(kindOf(own))).length;
    const { groups, reasons } = this.#obstacles.get(fluxion.id) ?? { groups: [], reasons: [] };
    return { fluxion, stream, depth, cut, begins, reasons, groups };
  }

  #placementsOf(heads: readonly Head[]): readonly Placement[] {
    return PLACEMENTS.filter((placement) =>
      heads.some(({ fluxion }) => this.#reaching.get(placement)?.has(fluxion.id)),
    );
  }
}

/** The fluxions between the beginning of a chain and the step that is being shown. */
class Path {
  readonly #ids: FluxionId[] = [];
  readonly #counts = new Map<FluxionId, number>();

  /** What is not upstream of a step at this depth. */
  leaveBelow(depth: number): void {
    while (this.#ids.length > depth) {
      const left = this.#ids.pop() ?? '';
      this.#counts.set(left, (this.#counts.get(left) ?? 1) - 1);
    }
  }

  has(id: FluxionId): boolean {
    return (this.#counts.get(id) ?? 0) > 0;
  }

  add(id: FluxionId): void {
    this.#ids.push(id);
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }
}

/** Per placement, the fluxions that are placed so or run on, sooner or later, into one that is. */
function findReaching(program: FluxionProgram): ReadonlyMap<Placement, ReadonlySet<FluxionId>> {
  const upstream = new Map<FluxionId, FluxionId[]>();
  for (const fluxion of program.fluxions) {
    const inside = fluxion.streams.filter((stream) => !hasOwnChain(kindOf(stream)));
    for (const dest of inside.flatMap((stream) => stream.dest)) {
      const list = upstream.get(dest);
      if (list === undefined) upstream.set(dest, [fluxion.id]);
      else list.push(fluxion.id);
    }
  }
  return new Map(
    PLACEMENTS.map((placement) => {
      const placed = program.fluxions.filter((fluxion) => fluxion.placement === placement);
      return [
        placement,
        closeOver(
          placed.map((fluxion) => fluxion.id),
          upstream,
        ),
      ];
    }),
  );
}

function closeOver(ids: readonly FluxionId[], upstream: ReadonlyMap<FluxionId, readonly FluxionId[]>): Set<FluxionId> {
  const found = new Set(ids);
  // A set visits what is added to it on the way.
  for (const id of found) for (const before of upstream.get(id) ?? []) found.add(before);
  return found;
}
