// The part of a time axis that a chart shows: by dragging across it, or by the range beside it, which
// the keyboard reaches.
import { useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { clusterTime } from '../words/times';

const kDay = 86400;
const kRanges: [string, number][] = [
  ['last 24 hours', kDay],
  ['last 7 days', 7 * kDay],
  ['last 30 days', 30 * kDay],
];

export interface Zoom {
  part: [number, number] | null; // null: all of it
  show: (from: number, to: number) => void;
  reset: () => void;
  changed: (plot: uPlot) => void; // uPlot has another scale
}

const ends = (x: number[]): [number, number] => [x[0] ?? 0, x[x.length - 1] ?? 0];

export function useZoom(plot: { readonly current: uPlot | null }, x: number[]): Zoom {
  const [part, setPart] = useState<[number, number] | null>(null);
  const show = (from: number, to: number) => plot.current?.setScale('x', { min: from, max: to });
  const changed = (drawn: uPlot) => {
    const { min, max } = drawn.scales.x ?? {};
    const all = drawn.data[0] as number[];
    const [from, to] = ends(all);
    const whole = min == null || max == null || (min <= from && max >= to);
    setPart(whole ? null : [min, max]);
  };
  const reset = () => show(...ends(x));
  return { part, show, reset, changed };
}

/** The range, and what moves it while it is a part. */
export function ZoomControls({ zoom, x }: { zoom: Zoom; x: number[] }) {
  const [from, to] = ends(x);
  const { part } = zoom;
  const choices = kRanges.filter(([, seconds]) => seconds < to - from);
  const chosen =
    part === null ? '' : String(choices.find(([, seconds]) => part[1] === to && Math.abs(part[1] - part[0] - seconds) < 1)?.[1] ?? 'part');
  const choose = (value: string) => (value === '' ? zoom.reset() : zoom.show(to - Number(value), to));
  const move = (direction: number) => () => {
    if (part === null) return;
    const width = part[1] - part[0];
    const start = Math.min(Math.max(part[0] + (direction * width) / 2, from), Math.max(from, to - width));
    zoom.show(start, start + width);
  };
  return (
    <div class="zoom">
      <label class="field field-row">
        <span>Range</span>
        <select value={chosen} onChange={(event) => choose((event.target as HTMLSelectElement).value)}>
          <option value="">all</option>
          {choices.map(([words, seconds]) => (
            <option key={words} value={String(seconds)}>
              {words}
            </option>
          ))}
          {chosen === 'part' ? (
            <option value="part" disabled>
              Zoomed in
            </option>
          ) : null}
        </select>
      </label>
      {part === null ? (
        <span class="quiet zoom-hint">Drag across the chart to zoom.</span>
      ) : (
        <>
          <span>
            {clusterTime(part[0], 0)} – {clusterTime(part[1], 0)}
          </span>
          <button type="button" onClick={move(-1)} disabled={part[0] <= from}>
            Earlier
          </button>
          <button type="button" onClick={move(1)} disabled={part[1] >= to}>
            Later
          </button>
          <button type="button" onClick={zoom.reset}>
            Show all
          </button>
        </>
      )}
    </div>
  );
}
