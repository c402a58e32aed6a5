// Where a time axis has its ticks, and their words.
import { clusterDay, clusterTime } from '../words/times';

const kDay = 86400;

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
