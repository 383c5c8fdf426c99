/**
 * Reads: what was expected and what came out.
 * Gives: the lines that differ, each with its surroundings; empty where the texts are equal.
 */
const context = 3;

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string; readonly at: number };

export function lineDiff(expected: string, actual: string): string {
  if (expected === actual) return '';
  const lines = diffLines(expected.split('\n'), actual.split('\n'));
  const shown = new Set<number>();
  lines.forEach(({ sign }, index) => {
    if (sign === ' ') return;
    for (let near = index - context; near <= index + context; near++) shown.add(near);
  });
  const text: string[] = [];
  lines.forEach((line, index) => {
    if (!shown.has(index)) return;
    if (!shown.has(index - 1)) text.push(`@ line ${line.at}`);
    text.push(`${line.sign} ${line.text}`);
  });
  return text.join('\n');
}

/** Equal beginnings and ends are set aside first, so that the table stays small. */
function diffLines(left: readonly string[], right: readonly string[]): readonly Line[] {
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < left.length - head && tail < right.length - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  const middle = diffMiddle(left.slice(head, left.length - tail), right.slice(head, right.length - tail), head);
  const same = (text: string, index: number): Line => ({ sign: ' ', text, at: index + 1 });
  return [
    ...left.slice(0, head).map(same),
    ...middle,
    ...left.slice(left.length - tail).map((text, index) => same(text, left.length - tail + index)),
  ];
}

/** The longest common subsequence: `common[i][j]` is its length for the lines from i and j on. */
function diffMiddle(left: readonly string[], right: readonly string[], offset: number): readonly Line[] {
  const common = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  const length = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const best = left[i] === right[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
      common[i]!.set([best], j);
    }
  }
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const at = offset + i + 1;
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ sign: ' ', text: left[i]!, at });
      i++;
      j++;
    } else if (j >= right.length || (i < left.length && length(i + 1, j) >= length(i, j + 1))) {
      lines.push({ sign: '-', text: left[i++]!, at });
    } else {
      lines.push({ sign: '+', text: right[j++]!, at });
    }
  }
  return lines;
}
