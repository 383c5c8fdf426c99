/** Gives: what a process group has used of the processor and holds in memory, as Linux tells it; null elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Usage {
  /** Since it was started. */
  readonly cpuMs: number;
  /** What several processes share is counted once. */
  readonly memoryMb: number;
}

/** In `/proc`, times are in hundredths of a second on every architecture that Node runs on. */
const MS_PER_TICK = 10;

export function usageOfGroup(group: number): Usage | null {
  let cpuMs = 0;
  let memoryKb = 0;
  for (const pid of processes()) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // Behind the name, which may hold anything: state, parent, group, … user time, system time.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[2]) !== group) continue;
      cpuMs += (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
      memoryKb += Number(/^Pss: *(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
    } catch {
      // It has just ended.
    }
  }
  return cpuMs === 0 && memoryKb === 0 ? null : { cpuMs, memoryMb: memoryKb / 1024 };
}

function processes(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
