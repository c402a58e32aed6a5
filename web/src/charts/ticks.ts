// Where a time axis has its ticks, and their words.
import { clusterDay, clusterTime } from '../words/times';

const kHour = 3600;
const kDay = 86400;

/** Round lengths of time between two ticks, in seconds. */
export const kLengthSteps = [
  10,
  30,
  60,
  120,
  300,
  600,
  1200,
  1800,
  kHour,
  2 * kHour,
  4 * kHour,
  6 * kHour,
  12 * kHour,
  kDay,
  2 * kDay,
  4 * kDay,
  7 * kDay,
  14 * kDay,
  28 * kDay,
];

/**
 * "24 Nov", or the hour where ticks are closer than a day, with the date below it at midnight and at
 * the first tick; x is already in the cluster's time zone.
 */
export function dateWords(values: number[], step: number): string[] {
  return values.map((value, at) => {
    if (step >= kDay) return clusterDay(value, 0);
    const hour = clusterTime(value, 0).slice(-5);
    return at === 0 || value % kDay === 0 ? `${hour}\n${clusterDay(value, 0)}` : hour;
  });
}

/** Every so many of `x` that at most `most` remain, the last one among them. */
export function someOf(x: number[], most: number): number[] {
  const every = Math.max(1, Math.ceil(x.length / Math.max(1, most)));
  return x.filter((_, at) => (x.length - 1 - at) % every === 0);
}
