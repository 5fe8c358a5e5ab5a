// Times on a line.
//
// A run may act for milliseconds and wait for days. Drawn true to time, the acts would be invisible;
// so long stretches can be drawn shorter, by a root of their length. Order is kept in either case.

/** How much longer the whole must be than its busy part before stretches are shortened unasked. */
const MOSTLY_WAITING = 12;
const ROOT = 0.35;

export interface Scale {
  /** From 0 to 100. */
  place: (at: number) => number;
  /** Times that are worth a line on the axis. */
  ticks: number[];
}

/** The share of a time line that something went on in. */
export function mostlyWaiting(busy: [number, number][], from: number, to: number): boolean {
  const spent = busy.reduce((sum, [begin, end]) => sum + Math.max(1, end - begin), 0);
  return to - from > 2000 && to - from > spent * MOSTLY_WAITING;
}

export function scale(times: number[], from: number, to: number, shortened: boolean): Scale {
  const whole = Math.max(1, to - from);
  if (!shortened) {
    const place = (at: number): number => (Math.min(Math.max(at - from, 0), whole) / whole) * 100;
    return { place, ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => from + whole * part) };
  }
  const inside = times.filter((at) => at > from && at < to);
  const stops = [...new Set([from, ...inside, to])].sort((a, b) => a - b);
  const widths = stops.slice(1).map((at, index) => Math.max(1, at - (stops[index] ?? from)) ** ROOT);
  const sum = widths.reduce((all, width) => all + width, 0) || 1;
  const starts = widths.reduce<number[]>((all, width) => [...all, (all.at(-1) ?? 0) + (width / sum) * 100], [0]);
  const place = (at: number): number => {
    const index = Math.max(0, stops.findLastIndex((stop) => stop <= at));
    const [begin, end] = [stops[index] ?? from, stops[index + 1]];
    const [left, right] = [starts[index] ?? 0, starts[index + 1]];
    if (end === undefined || right === undefined) return 100;
    return left + ((at - begin) / Math.max(1, end - begin)) * (right - left);
  };
  return { place, ticks: spread(stops, place) };
}

/** Those stops that have room for their words. */
function spread(stops: number[], place: (at: number) => number): number[] {
  const kept: number[] = [];
  for (const stop of stops) {
    const last = kept.at(-1);
    if (last === undefined || place(stop) - place(last) >= 18) kept.push(stop);
  }
  return kept;
}
