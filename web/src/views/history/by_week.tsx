// A measure by week, one line for each GPU type.
import type { History } from '../../api/contract';
import { seriesDash, seriesToken } from '../../charts/colours';
import { Plot } from '../../charts/plot';
import { Name } from '../../parts/name';
import { partOf } from '../../parts/range';
import type { Part } from '../../parts/range';
import { DataTable } from '../../parts/table';
import { duration } from '../../words/durations';
import { decimal, grouped, percent } from '../../words/numbers';
import { mondayOf, weekDay, weekWords } from '../../words/times';
import type { Measure } from './measure';

interface ByWeekProps {
  data: History;
  measure: Measure;
  range: Part | null;
}

export function ByWeek({ data, measure, range }: ByWeekProps) {
  const weeks = [...new Set(data.by_week.map((row) => row.week_start))].sort((a, b) => a - b);
  const names = new Map(data.gpus.map((gpu) => [gpu.gpu, gpu.gpu_name]));
  const gpus = [...new Set(data.by_week.map((row) => row.gpu))];
  const find = new Map(data.by_week.map((row) => [`${row.gpu}@${row.week_start}`, row]));
  const lines = gpus.map((gpu, index) => ({
    name: names.get(gpu) ?? gpu,
    token: seriesToken(index),
    dash: seriesDash(index),
    values: weeks.map((week) => find.get(`${gpu}@${week}`)?.[measure.key] ?? null),
    points: true,
  }));
  const x = weeks.map(mondayOf);
  const most = Math.max(0, ...data.by_week.map((row) => row[measure.key] ?? 0));
  const label = `${measure.label} by week for ${gpus.length} GPU types over ${weeks.length} weeks; the most is ${measure.words(most)}.`;
  return (
    <Plot
      label={label}
      x={x}
      lines={lines}
      weeks
      part={partOf(range, x)}
      xWords={(x) => `week of ${weekWords(x, data.until)}`}
      yWords={measure.words}
      seconds={measure.key.endsWith('seconds')}
      range={measure.key === 'use' ? [0, 1] : undefined}
    >
      <WeekTable data={data} names={names} />
    </Plot>
  );
}

function WeekTable({ data, names }: { data: History; names: Map<string, string> }) {
  return (
    <DataTable
      caption="By week and GPU type"
      rows={data.by_week}
      keyOf={(row) => `${row.week_start}/${row.gpu}`}
      columns={[
        {
          head: 'Week of',
          cell: (row) => weekWords(row.week_start, data.until),
          value: (row) => weekDay(row.week_start),
          order: (row) => row.week_start,
        },
        { head: 'GPU', cell: (row) => <Name of={names.get(row.gpu) ?? row.gpu} />, value: (row) => names.get(row.gpu) ?? row.gpu },
        { head: 'Jobs', value: (row) => row.jobs, words: grouped },
        { head: 'Wait p50', value: (row) => row.wait_p50_seconds, words: duration },
        { head: 'Wait p90', value: (row) => row.wait_p90_seconds, words: duration },
        { head: 'Allocated', value: (row) => row.use, words: percent },
        { head: 'Waiting', value: (row) => row.queue, words: decimal },
      ]}
    />
  );
}
