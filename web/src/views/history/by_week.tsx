// A measure by week, one line for each GPU type.
import { useRef } from 'preact/hooks';
import type { History } from '../../api/contract';
import { kSeriesCount, seriesToken } from '../../charts/colours';
import { Plot } from '../../charts/plot';
import { Name } from '../../parts/name';
import { partOf } from '../../parts/range';
import type { Part } from '../../parts/range';
import { setParams } from '../../parts/route';
import { DataTable } from '../../parts/table';
import { duration } from '../../words/durations';
import { decimal, grouped, percent } from '../../words/numbers';
import { mondayOf, weekDay, weekWords } from '../../words/times';
import type { Measure } from './measure';

interface ByWeekProps {
  data: History;
  measure: Measure;
  range: Part | null;
  strong: string; // the types whose lines are strong where there are many, as in the address
}

export function ByWeek({ data, measure, range, strong }: ByWeekProps) {
  const weeks = [...new Set(data.by_week.map((row) => row.week_start))].sort((a, b) => a - b);
  const names = new Map(data.gpus.map((gpu) => [gpu.gpu, gpu.gpu_name]));
  const gpus = [...new Set(data.by_week.map((row) => row.gpu))];
  const find = new Map(data.by_week.map((row) => [`${row.gpu}@${row.week_start}`, row]));
  const slots = slotsOf(strong, data, gpus); // each is a colour
  const next = useRef(0);
  const pick = (line: number) => {
    const gpu = gpus[line] ?? '';
    const [own, free] = [slots.indexOf(gpu), slots.indexOf('')];
    const at = own >= 0 ? own : free >= 0 ? free : next.current++ % kSeriesCount;
    setParams({ lines: slots.map((one, slot) => (slot !== at ? one : own >= 0 ? '' : gpu)).join() });
  };
  const lines = gpus.map((gpu) => ({
    name: names.get(gpu) ?? gpu,
    token: seriesToken(slots.indexOf(gpu)),
    faint: !slots.includes(gpu),
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
      pick={gpus.length > kSeriesCount ? pick : undefined}
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

/** The chosen types; at first those with the most jobs. '' is a colour that none has. */
function slotsOf(said: string, data: History, gpus: string[]): string[] {
  if (said !== '') return Array.from({ length: kSeriesCount }, (_, at) => gpus.find((gpu) => gpu === said.split(',')[at]) ?? '');
  const jobs = (gpu: string) => data.by_week.reduce((sum, row) => sum + (row.gpu === gpu ? row.jobs : 0), 0);
  const most = [...gpus].sort((a, b) => jobs(b) - jobs(a)).slice(0, kSeriesCount);
  return gpus.filter((gpu) => most.includes(gpu));
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
