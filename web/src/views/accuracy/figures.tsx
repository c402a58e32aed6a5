// The record in a few large figures, each with its target or Slurm's figure.
import type { ComponentChildren } from 'preact';
import type { AccuracyAnswer } from '../../api/types';
import { length } from '../../words/durations';
import { grouped, percent } from '../../words/numbers';
import { say } from '../../words/say';

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
      <Figure id="jobs" name={say('figure.jobs')} value={grouped(all.jobs)}>{say('figure.jobsRest', { jobs: grouped(all.covered_jobs) })}</Figure>
      <Figure id="median" name={say('figure.median')} value={length(all.median_abs_error_seconds)}>{say('figure.medianRest')}</Figure>
      <Figure id="covered" name={say('figure.covered')} value={length(all.covered_median_abs_error_seconds)}>{say('figure.coveredRest', { share: percent(all.within_600s) })}</Figure>
      <Figure id="coverage90" name={say('figure.coverage90')} value={percent(all.coverage_p90)}>{say('figure.coverage90Rest', { share: percent(all.coverage_p50) })}</Figure>
      <Figure id="at_once" name={say('figure.at_once')} value={percent(all.at_once)}>{say('figure.at_onceRest')}</Figure>
      <Figure id="slurm" name={say('figure.slurm')} value={length(all.median_abs_error_seconds_beside_slurm)}>
        {all.slurm_jobs > 0 ? say('figure.slurmRest', { error: length(all.slurm_median_abs_error_seconds), jobs: grouped(all.slurm_jobs) }) : say('figure.slurmNone')}
      </Figure>
    </dl>
  );
}
