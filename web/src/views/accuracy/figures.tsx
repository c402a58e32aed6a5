// The record in a few large figures, each beside what it should be or what Slurm said.
import type { ComponentChildren } from 'preact';
import type { AccuracyAnswer } from '../../api/types';
import { length } from '../../words/durations';
import { grouped, percent } from '../../words/numbers';

interface FigureProps {
  id: string;
  name: string;
  value: string;
  children: ComponentChildren;
}

function Figure({ id, name, value, children }: FigureProps) {
  return (
    <div class="figure" data-figure={id} data-words={value}>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <span>{children}</span>
      </dd>
    </div>
  );
}

export function Figures({ data: { all } }: { data: AccuracyAnswer }) {
  return (
    <dl class="figures-row">
      <Figure id="jobs" name="Jobs forecast" value={grouped(all.jobs)}>{grouped(all.covered_jobs)} were said to wait</Figure>
      <Figure id="median" name="Median error" value={length(all.median_abs_error_seconds)}>of the p50, all jobs</Figure>
      <Figure id="covered" name="Median error, said to wait" value={length(all.covered_median_abs_error_seconds)}>{percent(all.within_600s)} of all within 10 min</Figure>
      <Figure id="coverage90" name="Under the p90" value={percent(all.coverage_p90)}>90 % would be right; under the p50 {percent(all.coverage_p50)}</Figure>
      <Figure id="at_once" name="Said at once, came at once" value={percent(all.at_once)}>within a minute</Figure>
      <Figure id="slurm" name="Beside Slurm's own estimate" value={length(all.median_abs_error_seconds_beside_slurm)}>
        Slurm's is {length(all.slurm_median_abs_error_seconds)} off, for the {grouped(all.slurm_jobs)} jobs that it gave one
      </Figure>
    </dl>
  );
}
