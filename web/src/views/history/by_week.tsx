// A measure by week, one line for each GPU type.
import type { HistoryAnswer } from '../../api/types';
import { seriesToken } from '../../charts/colours';
import { Plot } from '../../charts/plot';
import { Name } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { duration } from '../../words/durations';
import { decimal, grouped, percent } from '../../words/numbers';
import { weekWords } from '../../words/times';
import type { Measure } from './measure';
import { phrase } from '../../words/say';

export function ByWeek({ data, measure }: { data: HistoryAnswer; measure: Measure }) {
  const weeks = [...new Set(data.by_week.map((row) => row.week_start))].sort((a, b) => a - b);
  const names = new Map(data.gpus.map((gpu) => [gpu.gpu, gpu.gpu_name]));
  const gpus = [...new Set(data.by_week.map((row) => row.gpu))];
  const find = new Map(data.by_week.map((row) => [`${row.gpu}@${row.week_start}`, row]));
  const lines = gpus.map((gpu, index) => ({
    name: names.get(gpu) ?? gpu,
    token: seriesToken(index),
    values: weeks.map((week) => find.get(`${gpu}@${week}`)?.[measure.key] ?? null),
    points: true,
  }));
  const offset = data.utc_offset_seconds;
  const most = Math.max(0, ...data.by_week.map((row) => row[measure.key] ?? 0));
  const label = phrase('{measure} by week for {types} GPU types over {weeks} weeks; the most is {most}.', { measure: phrase(measure.label), types: gpus.length, weeks: weeks.length, most: measure.words(most) });
  return (
    <Plot label={label} x={weeks.map((week) => week + offset)} lines={lines} weeks xWords={(x) => phrase('week of {day}', { day: weekWords(x - offset, offset, data.until) })} yWords={measure.words} seconds={measure.key.endsWith('seconds')} range={measure.key === 'use' ? [0, 1] : undefined}>
      <WeekTable data={data} names={names} />
    </Plot>
  );
}

function WeekTable({ data, names }: { data: HistoryAnswer; names: Map<string, string> }) {
  return (
    <DataTable
      caption={phrase('By week and GPU type')}
      rows={data.by_week}
      keyOf={(row) => `${row.week_start}/${row.gpu}`}
      columns={[
        { head: phrase('Week of'), cell: (row) => weekWords(row.week_start, data.utc_offset_seconds, data.until) },
        { head: phrase('GPU'), cell: (row) => <Name of={names.get(row.gpu) ?? row.gpu} /> },
        { head: phrase('Jobs'), cell: (row) => grouped(row.jobs), right: true },
        { head: phrase('Wait p50'), cell: (row) => duration(row.wait_p50_seconds), right: true },
        { head: phrase('Wait p90'), cell: (row) => duration(row.wait_p90_seconds), right: true },
        { head: phrase('In use'), cell: (row) => percent(row.use), right: true },
        { head: phrase('Waiting'), cell: (row) => decimal(row.queue), right: true },
      ]}
    />
  );
}
