/**
 * Reads: requests to an app of generate-running-app.ts, with when they began and ended, and what came back.
 * Gives: in words, every answer that the app could not have given on one loop.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Route, work } from './generate-running-app.js';

export interface Asked {
  readonly route: Route;
  readonly id: number;
  /** Turns of one clock: what ended before another one began has a smaller number. */
  readonly began: number;
  readonly ended: number;
  readonly status: number;
  readonly text: string;
}

export function* judgeHistory(asked: readonly Asked[], final: readonly (readonly number[])[]): Generator<string> {
  for (const each of asked) yield* judgeAlone(each);
  for (const [list, order] of final.entries()) yield* judgeList(list, order, asked);
}

function* judgeAlone(asked: Asked): Generator<string> {
  const { route, id, status, text } = asked;
  const expect = (wanted: number, body: unknown): string[] =>
    status === wanted && isDeepStrictEqual(parse(text), body)
      ? []
      : [`${say(asked)}, instead of ${JSON.stringify(body)}`];
  switch (route.does.kind) {
    case 'computes':
      return yield* expect(200, { sum: work(id) });
    case 'echoes':
      return yield* expect(201, { got: { id, text: 'x'.repeat(id % 90) }, sum: work(id) });
    case 'fails':
      return yield* expect(500, { failed: `as asked by ${id}` });
    default:
      if (status !== 200) yield say(asked);
  }
}

/** Its final order says who came when; nobody may have been told anything else. */
function* judgeList(list: number, order: readonly number[], asked: readonly Asked[]): Generator<string> {
  const placeOf = new Map(order.map((id, index) => [id, index + 1]));
  if (placeOf.size !== order.length) yield `list ${list} has something twice: ${order}`;
  const appends: { readonly asked: Asked; readonly place: number }[] = [];
  for (const each of asked) {
    const { does } = each.route;
    const index = does.kind === 'appends' ? does.lists.indexOf(list) : -1;
    if (index === -1) continue;
    const place = parse(each.text)?.at?.[index];
    if (place !== placeOf.get(each.id)) yield `${say(each)}, but it is number ${placeOf.get(each.id)} of list ${list}`;
    appends.push({ asked: each, place: placeOf.get(each.id) ?? 0 });
  }
  if (appends.length !== order.length) yield `list ${list} has ${order.length} items of ${appends.length}`;
  yield* judgeOrder(list, appends);
  for (const each of asked) {
    if (each.route.does.kind === 'shows' && each.route.does.list === list) yield* judgeView(each, order, appends);
  }
}

function* judgeOrder(
  list: number,
  appends: readonly { readonly asked: Asked; readonly place: number }[],
): Generator<string> {
  const inOrder = [...appends].sort((left, right) => left.place - right.place);
  let latest = inOrder[0];
  for (const each of inOrder) {
    if (latest !== undefined && each.asked.ended < latest.asked.began)
      yield `list ${list}: ${say(each.asked)} was over before ${say(latest.asked)} began`;
    if (latest === undefined || each.asked.began > latest.asked.began) latest = each;
  }
}

function* judgeView(
  view: Asked,
  order: readonly number[],
  appends: readonly { readonly asked: Asked; readonly place: number }[],
): Generator<string> {
  const seen: unknown = parse(view.text)?.seen;
  if (!Array.isArray(seen) || !isDeepStrictEqual(seen, order.slice(0, seen.length))) {
    yield `${say(view)}, which is no beginning of ${order}`;
    return;
  }
  for (const { asked, place } of appends) {
    if (asked.ended < view.began && place > seen.length) yield `${say(view)} has not seen ${say(asked)}`;
    if (asked.began > view.ended && place <= seen.length)
      yield `${say(view)} has seen ${say(asked)} before it was asked`;
  }
}

function parse(text: string): { readonly at?: readonly number[]; readonly seen?: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function say({ route, id, status, text }: Asked): string {
  return `${route.name}/${id} (${JSON.stringify(route.does)}): ${status} ${text.slice(0, 300)}`;
}
