// A logarithmic scale of waits: seconds to 0..1, everything under the least on the lower edge.

export interface LogScale {
  place: (seconds: number) => number;
  ticks: { at: number; words: string }[];
}

const kTicks: [number, string][] = [
  [1, '1 s'],
  [10, '10 s'],
  [60, '1 min'],
  [600, '10 min'],
  [3600, '1 h'],
  [6 * 3600, '6 h'],
  [86400, '1 d'],
  [7 * 86400, '7 d'],
  [30 * 86400, '30 d'],
];

/** Spans `seconds`, from at most `least` up, to the next tick. */
export function logScale(seconds: number[], least = 60): LogScale {
  const most = Math.max(least * 10, ...seconds);
  const low = Math.log(least);
  const high = Math.log((kTicks.find(([at]) => at >= most) ?? [most])[0]);
  const place = (value: number) => Math.min(1, Math.max(0, (Math.log(Math.max(value, least)) - low) / (high - low)));
  const ticks = kTicks
    .filter(([at]) => at >= least && Math.log(at) <= high + 1e-9)
    .map(([at, words]) => ({ at: place(at), words: at === least ? `≤ ${words}` : words }));
  return { place, ticks };
}
