// The time axis that all rows of a page share: seconds from the snapshot to fractions of its width.
import type { QueueJob } from '../../api/contract';
import type { Option } from '../../parts/filters';

export interface Axis {
  from: number; // unix seconds at the left edge
  to: number; // and at the right
  now: number;
}

export interface Tick {
  at: number; // fraction of the width
  words: string;
}

const kHour = 3600;
const kDay = 86400;

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

/** The place of a moment, 0 to 1; what lies beyond is put on the edge. */
export function placeOf(axis: Axis, moment: number): number {
  return Math.min(1, Math.max(0, (moment - axis.from) / (axis.to - axis.from)));
}

const kSteps = [10 * 60, 30 * 60, kHour, 2 * kHour, 4 * kHour, 6 * kHour, 12 * kHour, kDay, 2 * kDay, 4 * kDay, 7 * kDay, 14 * kDay, 28 * kDay];
const kMostTicks = 6;

/** Seconds from one tick to the next. */
export function stepOf(axis: Axis): number {
  const ahead = axis.to - axis.now;
  return kSteps.find((seconds) => ahead / seconds <= kMostTicks) ?? ahead / kMostTicks;
}

/** "now", then round distances from it: "+2 h", "+4 h". */
export function ticksOf(axis: Axis): Tick[] {
  const ahead = axis.to - axis.now;
  const step = stepOf(axis);
  const ticks: Tick[] = [{ at: placeOf(axis, axis.now), words: 'now' }];
  for (let seconds = step; seconds < ahead * 0.97; seconds += step) {
    ticks.push({ at: placeOf(axis, axis.now + seconds), words: `+${distance(seconds)}` });
  }
  return ticks;
}

function distance(seconds: number): string {
  if (seconds < kHour) return `${Math.round(seconds / 60)} min`;
  if (seconds % kHour !== 0 && seconds < 6 * kHour) return `${seconds / kHour} h`;
  if (seconds < 2 * kDay && seconds % kDay !== 0) return `${Math.round(seconds / kHour)} h`;
  return seconds % kDay === 0 ? `${seconds / kDay} d` : `${(seconds / kDay).toFixed(1)} d`;
}
