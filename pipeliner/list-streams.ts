/**
 * Reads:   parts, and which of them are at home for good.
 * Gives:   for each part the streams that its fluxion lists.
 *
 * What a helper sends, each part sends that runs the helper, however far away: where everything may call everything, each
 * of some hundred parts would list some hundred streams. A stream that many parts send is listed by those whose code is
 * next to it; where even that is a guess, by the first. That goes for what stays at home, where nothing depends on the list:
 * what may leave home has to know everything that may go on behind it.
 */
import { type Part, type PartId, type PartStream, UNSURE } from '../analyzer/cut-parts.js';

const many = 16;

interface Senders {
  count: number;
  nearest: number;
  readonly first: PartId;
}

export function listStreams(
  parts: readonly Part[],
  staysHome: (part: PartId) => boolean,
): (part: Part) => readonly PartStream[] {
  const senders = new Map<object | null, Senders>();
  for (const part of parts) {
    for (const stream of part.streams) {
      const known = senders.get(leaveOf(stream));
      if (known === undefined) {
        senders.set(leaveOf(stream), { count: 1, nearest: stream.distance, first: part.id });
        continue;
      }
      known.count++;
      if (stream.distance < known.nearest) known.nearest = stream.distance;
    }
  }
  const isListed = (stream: PartStream): boolean => {
    const known = senders.get(leaveOf(stream));
    if (known === undefined || known.count <= many) return true;
    return known.nearest === UNSURE ? known.first === stream.from : stream.distance === known.nearest;
  };
  return (part) => (staysHome(part.id) ? part.streams.filter(isListed) : part.streams);
}

/** The call or the await that it leaves from. */
function leaveOf(stream: PartStream): object | null {
  return stream.point ?? stream.cut;
}
