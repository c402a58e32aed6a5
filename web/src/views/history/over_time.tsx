// Jobs that wait, the GPUs they want, and the GPUs that are allocated, over time.
import type { History } from '../../api/contract';
import { Plot } from '../../charts/plot';
import { length } from '../../words/durations';
import { decimal } from '../../words/numbers';
import { clusterTime } from '../../words/times';
import { partOf, setRange } from '../../parts/range';
import type { Part } from '../../parts/range';
import { ZoomControls } from '../../charts/zoom';
import { weekBefore } from './week_before';
import { SeriesTable } from './series_table';

const kMostRows = 100;

interface OverTimeProps {
  data: History;
  gpu: string; // the chosen one; '': all
  said: string; // the range, as in the address
  range: Part | null;
}

export function OverTime({ data, gpu, said, range }: OverTimeProps) {
  const offset = data.utc_offset_seconds;
  const times = data.series.map((row) => row.time);
  const choose = (part: Part | null) => setRange(part && [part[0] - offset, part[1] - offset]);
  const x = times.map((time) => time + offset);
  const busy = data.series.map((row) => row.busy_gpus);
  const wanted = data.series.map((row) => row.pending_gpus);
  const waiting = data.series.map((row) => row.pending);
  const total = data.gpus.filter((one) => gpu === '' || one.gpu === gpu).reduce((sum, one) => sum + one.total, 0);
  const xWords = (at: number) => clusterTime(at, 0);
  const yWords = (value: number) => decimal(value);
  const shown = partOf(range, times);
  const newest = data.series.filter((row) => !shown || (row.time >= shown[0] && row.time <= shown[1])).slice(-kMostRows);
  const part: Part | null = shown && [shown[0] + offset, shown[1] + offset];
  return (
    <>
      <ZoomControls said={said} range={range} x={times} offset={offset} />
      <div class="side-by-side">
        <Plot
          part={part}
          choose={choose}
          label={`Jobs waiting over time; ${span(waiting)}.`}
          x={x}
          xWords={xWords}
          yWords={yWords}
          lines={[
            ...weekBefore(data.series, data.series, shown, 'pending'),
            { name: 'jobs waiting', token: '--series-1', values: waiting },
          ]}
        />
        <Plot
          part={part}
          choose={choose}
          label={`GPUs over time: allocated, ${span(busy)}; that jobs wait for, ${span(wanted)}.`}
          x={x}
          xWords={xWords}
          yWords={yWords}
          lines={[
            ...weekBefore(data.series, data.series, shown, 'busy_gpus'),
            { name: 'allocated', token: '--series-1', values: busy },
            { name: 'waited for', token: '--series-2', values: wanted, dash: [5, 4] },
            { name: 'all GPUs now', token: '--text-3', values: data.series.map(() => total), dash: [2, 4] },
          ]}
        />
      </div>
      <details class="figures">
        <summary>Show as a table</summary>
        <SeriesTable caption={`The newest ${newest.length} steps, each ${length(newest[0]?.seconds)}`} rows={newest} offset={offset} />
      </details>
    </>
  );
}

function span(values: (number | null)[]): string {
  const known = values.filter((value): value is number => value !== null);
  if (known.length === 0) return 'nothing is known';
  return `between ${decimal(Math.min(...known))} and ${decimal(Math.max(...known))}, last ${decimal(known[known.length - 1])}`;
}
