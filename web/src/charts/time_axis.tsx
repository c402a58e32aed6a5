// A time axis that rows share: seconds from the snapshot to fractions of its width, its ticks, and the bars on it. The words of a row
// say the same, so bars are hidden from screen readers.
import type { ComponentChildren } from 'preact';
import { kLengthSteps } from './ticks';

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

/** The place of a moment, 0 to 1; what lies beyond is put on the edge. */
export function placeOf(axis: Axis, moment: number): number {
  return Math.min(1, Math.max(0, (moment - axis.from) / (axis.to - axis.from)));
}

const kSteps = kLengthSteps.filter((seconds) => seconds >= 600);
const kMostTicks = 6;

/** Seconds from one tick to the next. */
export function stepOf(axis: Axis): number {
  const ahead = axis.to - axis.now;
  return kSteps.find((seconds) => ahead / seconds <= kMostTicks) ?? ahead / kMostTicks;
}

/** "now", then round distances from it, where there is room for them: "+2 h", "−2 h". */
export function ticksOf(axis: Axis): Tick[] {
  const ahead = axis.to - axis.now;
  const step = stepOf(axis);
  const ticks: Tick[] = [{ at: placeOf(axis, axis.now), words: 'now' }];
  for (let seconds = step; seconds < ahead * 0.88; seconds += step) {
    ticks.push({ at: placeOf(axis, axis.now + seconds), words: `+${distance(seconds)}` });
  }
  for (let seconds = step; axis.now - seconds >= axis.from; seconds += step) {
    ticks.push({ at: placeOf(axis, axis.now - seconds), words: `−${distance(seconds)}` });
  }
  return ticks;
}

function distance(seconds: number): string {
  if (seconds < kHour) return `${Math.round(seconds / 60)} min`;
  if (seconds % kHour !== 0 && seconds < 6 * kHour) return `${seconds / kHour} h`;
  if (seconds < 2 * kDay && seconds % kDay !== 0) return `${Math.round(seconds / kHour)} h`;
  return seconds % kDay === 0 ? `${seconds / kDay} d` : `${(seconds / kDay).toFixed(1)} d`;
}

// Where the lines for "now" and the ticks are, for all rows at once.
export function gridOf(axis: Axis) {
  const now = placeOf(axis, axis.now);
  const step = (1 - now) * (stepOf(axis) / (axis.to - axis.now));
  return { '--now': `${(now * 100).toFixed(3)}%`, '--step': `${((100 * step) / (1 - now)).toFixed(3)}%` };
}

export function Ticks({ axis }: { axis: Axis }) {
  return (
    <div class="ticks" aria-hidden="true">
      {ticksOf(axis).map((tick) => (
        <span key={tick.words} style={{ left: `${tick.at * 100}%` }}>
          {tick.words}
        </span>
      ))}
    </div>
  );
}

export function Line({ children }: { children: ComponentChildren }) {
  return (
    <div class="line" aria-hidden="true">
      {children}
    </div>
  );
}

const at = (axis: Axis, moment: number) => `${(placeOf(axis, moment) * 100).toFixed(2)}%`;

export function Span({ axis, from, to, kind }: { axis: Axis; from: number; to: number; kind: string }) {
  const left = placeOf(axis, from);
  const width = Math.max(0, placeOf(axis, to) - left);
  return <i class={`span span-${kind}`} style={{ left: `${(left * 100).toFixed(2)}%`, width: `${(width * 100).toFixed(2)}%` }} />;
}

/** A mark on a moment; one beyond the right edge is an arrow there. */
export function Mark({ axis, moment, kind }: { axis: Axis; moment: number; kind: string }) {
  if (moment < axis.from) return null;
  if (moment > axis.to) return kind === 'slurm' ? null : <i class="beyond">›</i>;
  return <i class={`line-mark line-mark-${kind}`} style={{ left: at(axis, moment) }} />;
}
