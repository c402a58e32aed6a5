// The range of all charts over time, beside those that it is chosen at: by dragging across one, or here, which the keyboard reaches.
import { kRanges, partOf, setRange } from '../parts/range';
import type { Part } from '../parts/range';
import { clusterTime } from '../words/times';

interface ZoomProps {
  said: string; // as in the address
  range: Part | null;
  x: number[]; // unix seconds of what there is
  offset: number; // of the clock, to UTC
}

export function ZoomControls({ said, range, x, offset }: ZoomProps) {
  const [from, to] = [x[0] ?? 0, x[x.length - 1] ?? 0];
  const part = partOf(range, x);
  const chosen = range === null ? '' : said;
  const move = (direction: number) => () => {
    if (part === null) return;
    const width = part[1] - part[0];
    const start = Math.min(Math.max(part[0] + (direction * width) / 2, from), Math.max(from, to - width));
    setRange([start, start + width], { replace: true });
  };
  return (
    <div class="zoom">
      <label class="field field-row">
        <span>Range</span>
        <select value={chosen} onChange={(event) => setRange((event.target as HTMLSelectElement).value)}>
          <option value="">all</option>
          {kRanges.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
          {chosen === '' || kRanges.some(({ value }) => value === chosen) ? null : <option value={chosen}>Zoomed in</option>}
        </select>
      </label>
      {part === null ? (
        <span class="quiet zoom-hint">
          {range !== null && (range[1] < from || range[0] > to) ? 'Nothing is known of this range. ' : ''}Drag across a chart to zoom.
        </span>
      ) : (
        <>
          <span>
            {clusterTime(part[0], offset)} – {clusterTime(part[1], offset)}
          </span>
          <button type="button" onClick={move(-1)} disabled={part[0] <= from}>
            Earlier
          </button>
          <button type="button" onClick={move(1)} disabled={part[1] >= to}>
            Later
          </button>
        </>
      )}
      {range === null ? null : (
        <button type="button" onClick={() => setRange(null)}>
          Show all
        </button>
      )}
    </div>
  );
}
