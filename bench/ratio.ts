/** Ratios of two rates that are measured in turns, so that whatever else the machine does meets both. */
export interface Ratio {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** Medians of the two rates. */
  readonly rates: readonly [number, number];
}

export async function ratioOf(turns: number, one: () => Promise<number>, other: () => Promise<number>): Promise<Ratio> {
  const pairs: (readonly [number, number])[] = [];
  for (let turn = 0; turn < turns; turn++) {
    // Whoever comes second has the warmer machine, so they take turns at that too.
    if (turn % 2 === 0) pairs.push([await one(), await other()]);
    else {
      const second = await other();
      pairs.push([await one(), second]);
    }
  }
  const ratios = sorted(pairs.map(([a, b]) => a / b));
  const rates = [median(pairs.map(([a]) => a)), median(pairs.map(([, b]) => b))] as const;
  return { median: median(ratios), least: ratios[0] ?? 0, most: ratios.at(-1) ?? 0, rates };
}

export function shown({ median: middle, least, most, rates }: Ratio): string {
  const [one, other] = rates.map((rate) => Math.round(rate));
  return `${middle.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}); ${one} and ${other}`;
}

export function median(values: readonly number[]): number {
  const all = sorted(values);
  const middle = all.length >> 1;
  const [before, behind] = [all[middle - 1] ?? 0, all[middle] ?? 0];
  return all.length % 2 === 1 ? behind : (before + behind) / 2;
}

export function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
