// The part of time that charts show, chosen once for all views and kept in the address: range=24h and range=7d are the last of them,
// range=1790000000-1790086400 is from one moment to another (unix seconds).
import { setParams } from './route';

const kHour = 3600;
const kDay = 24 * kHour;
const kWeek = 7 * kDay;
const kMostWeeks = 57; // that the daemon tells

export const kRanges = [
  { value: '6h', label: 'last 6 hours' },
  { value: '24h', label: 'last 24 hours' },
  { value: '48h', label: 'last 48 hours' },
  { value: '7d', label: 'last 7 days' },
  { value: '30d', label: 'last 30 days' },
];

export type Part = [number, number]; // from, to

/** What the address says, as unix seconds; null where it says nothing, or nothing that is a range. */
export function rangeOf(params: URLSearchParams, now: number): Part | null {
  const said = params.get('range') ?? '';
  const last = /^(\d{1,4})([hd])$/.exec(said);
  if (last) return Number(last[1]) > 0 ? [now - Number(last[1]) * (last[2] === 'h' ? kHour : kDay), now] : null;
  const [, from, to] = /^(\d{1,11})-(\d{1,11})$/.exec(said) ?? [];
  return from !== undefined && to !== undefined && Number(from) < Number(to) ? [Number(from), Number(to)] : null;
}

/** Each choice can be undone with Back; a step along the axis takes the place of the one before. */
export function setRange(to: string | Part | null, { replace = false } = {}): void {
  setParams({ range: Array.isArray(to) ? to.map(Math.round).join('-') : to }, { replace });
}

/** How many weeks of history a view asks for that would ask for `weeks`: as many as the range needs. */
export function weeksFor(range: Part | null, now: number, weeks: number): number {
  return range === null ? weeks : Math.min(kMostWeeks, Math.max(weeks, Math.ceil((now - range[0]) / kWeek)));
}

/** How many hours before and after now a picture of the past and the future has: 1 to 48. */
export function hoursFor(range: Part | null, now: number): number {
  return range === null ? 24 : Math.min(48, Math.max(1, Math.ceil((now - range[0]) / kHour)));
}

/** The part of `x` that the range leaves; null where that is all of it, or less than two points. */
export function partOf(range: Part | null, x: number[]): Part | null {
  const [first, last] = [x[0] ?? 0, x[x.length - 1] ?? 0];
  if (range === null || (range[0] <= first && range[1] >= last)) return null;
  if (x.filter((at) => at >= range[0] && at <= range[1]).length < 2) return null;
  return [Math.max(first, range[0]), Math.min(last, range[1])];
}
