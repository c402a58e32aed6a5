// The four measures that History can show, and how each becomes words and a colour.
import { shortDuration, waitLength, waitLevel } from '../../words/durations';
import { decimal, percent } from '../../words/numbers';

export const kHistoryRestSeconds = 300; // weeks do not change with every snapshot
export const kWeeks = 8; // that views ask for at first
export const kHistoryPath = `v1/history?weeks=${kWeeks}`;

interface Measured {
  wait_p50_seconds: number | null;
  wait_p90_seconds: number | null;
  use: number | null;
  queue: number | null;
}

export interface Measure {
  key: keyof Measured;
  label: string;
  explains: string;
  words: (value: number) => string;
  short: (value: number) => string;
  /** Step of a six-step colour scale; `most` is the largest value that is shown. */
  level: (value: number, most: number) => number;
}

const kLevels = 6;

const ofMost = (value: number, most: number) => Math.min(kLevels - 1, Math.floor((kLevels * value) / Math.max(most, 1e-9)));

/** Of a wait that is over, which is never "now". */
const pastWait = (seconds: number) => (seconds < 1 ? '0' : waitLength(seconds));

export const kMeasures: Measure[] = [
  {
    key: 'wait_p90_seconds',
    label: 'Wait, p90',
    explains: 'Of jobs that came in that hour, how long nine in ten waited at most.',
    words: pastWait,
    short: shortDuration,
    level: (value) => waitLevel(value) ?? 0,
  },
  {
    key: 'wait_p50_seconds',
    label: 'Wait, median',
    explains: 'Of jobs that came in that hour, how long half of them waited.',
    words: pastWait,
    short: shortDuration,
    level: (value) => waitLevel(value) ?? 0,
  },
  {
    key: 'use',
    label: 'GPUs allocated',
    explains: 'Share of the GPUs that were allocated in that hour, in percent.',
    words: percent,
    short: (value) => String(Math.round(value * 100)),
    level: (value) => ofMost(value, 1),
  },
  {
    key: 'queue',
    label: 'Jobs waiting',
    explains: 'How many jobs waited in that hour, on average.',
    words: (value) => decimal(value),
    short: (value) => (value < 9.95 ? decimal(value) : String(Math.round(value))),
    level: ofMost,
  },
];

export function measureOf(key: string | null): Measure {
  const found = kMeasures.find((measure) => measure.key === key) ?? kMeasures[0];
  if (!found) throw new Error('there is no measure');
  return found;
}
