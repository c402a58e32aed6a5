// Coverage and error by week, with Slurm's error beside ours.
import type { AccuracyWeek } from '../../api/contract';
import { Plot } from '../../charts/plot';
import { partOf } from '../../parts/range';
import type { Part } from '../../parts/range';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, percent } from '../../words/numbers';
import { mondayOf, weekDay, weekWords } from '../../words/times';

interface CoverageProps {
  weeks: AccuracyWeek[];
  until: number;
  range: Part | null;
}

export function Coverage({ weeks, until, range }: CoverageProps) {
  const x = weeks.map((week) => mondayOf(week.week_start));
  const last = weeks[weeks.length - 1];
  const label = `Coverage over ${weeks.length} weeks; in the last one ${percent(last?.coverage_p50)} under the p50 and ${percent(last?.coverage_p90)} under the p90.`;
  const constant = (value: number) => weeks.map(() => value);
  return (
    <Plot
      label={label}
      x={x}
      weeks
      part={partOf(range, x)}
      xWords={(at) => `week of ${weekWords(at, until)}`}
      yWords={percent}
      range={[0, 1.04]}
      height={190}
      lines={[
        { name: 'under the p90', token: '--series-1', values: weeks.map((week) => week.coverage_p90), points: true },
        { name: 'under the p50', token: '--series-2', values: weeks.map((week) => week.coverage_p50), points: true },
        { name: 'target', token: '--text-3', values: constant(0.9), dash: [2, 4] },
        { name: 'target for p50', token: '--text-3', values: constant(0.5), dash: [2, 4], legend: false },
      ]}
    >
      <WeekTable weeks={weeks} until={until} />
    </Plot>
  );
}

function WeekTable({ weeks, until }: { weeks: AccuracyWeek[]; until: number }) {
  return (
    <DataTable
      caption="Accuracy by week"
      rows={[...weeks].reverse()}
      keyOf={(week) => week.week_start}
      columns={[
        {
          head: 'Week of',
          cell: (week) => weekWords(week.week_start, until),
          value: (week) => weekDay(week.week_start),
          order: (week) => week.week_start,
        },
        { head: 'Jobs', value: (week) => week.jobs, words: grouped },
        { head: 'With a forecast wait', value: (week) => week.covered_jobs, words: grouped },
        { head: 'Under p50', value: (week) => week.coverage_p50, words: percent },
        { head: 'Under p90', value: (week) => week.coverage_p90, words: percent },
        { head: 'Median error', value: (week) => week.median_abs_error_seconds, words: length },
        { head: 'Compared with Slurm', value: (week) => week.median_abs_error_seconds_beside_slurm, words: length },
        { head: 'Slurm’s error', value: (week) => week.slurm_median_abs_error_seconds, words: length },
      ]}
    />
  );
}
