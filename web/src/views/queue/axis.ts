// The time axis of the jobs of a page: as long as they need.
import type { QueueJob } from '../../api/contract';
import type { Axis } from '../../charts/time_axis';
import type { Option } from '../../parts/filters';

const kHour = 3600;

export const kSpans: Option[] = [
  { value: '6', label: '6 hours' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
];

const kShareOfPast = 0.06;
const kShortestSeconds = kHour;

/** From a little before now to what the rows need, or `span` hours. */
export function axisOf(rows: QueueJob[], now: number, span: string): Axis {
  const asked = Number(span) * kHour;
  const ahead = asked > 0 ? asked : Math.max(kShortestSeconds, needed(rows, now) * 1.04);
  return { from: now - ahead * kShareOfPast, to: now + ahead, now };
}

function needed(rows: QueueJob[], now: number): number {
  let most = 0;
  for (const row of rows) {
    const start = row.start_p90 ?? row.start_p50;
    const median = row.start_p50 != null ? row.start_p50 + (row.run_p50_seconds ?? 0) : 0;
    for (const moment of [row.end_p90, row.end_p50, start, median]) {
      if (moment !== null && moment !== undefined) most = Math.max(most, moment - now);
    }
  }
  return most;
}
