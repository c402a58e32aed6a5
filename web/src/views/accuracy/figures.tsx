// The record in a few large figures, each with its target or Slurm's figure.
import type { Accuracy } from '../../api/contract';
import { Figure } from '../../parts/figure';
import { length } from '../../words/durations';
import { grouped, percent } from '../../words/numbers';

export function Figures({ data: { all } }: { data: Accuracy }) {
  return (
    <dl class="figures-row figures-six">
      <Figure name="Jobs forecast" value={grouped(all.jobs)}>
        {grouped(all.covered_jobs)} with a forecast wait
      </Figure>
      <Figure name="Median error" value={length(all.median_abs_error_seconds)}>
        of the p50, all jobs
      </Figure>
      <Figure name="Median error, jobs with a forecast wait" value={length(all.covered_median_abs_error_seconds)}>
        {percent(all.within_600s)} of all jobs within 10 min
      </Figure>
      <Figure name="Started by the p90" value={percent(all.coverage_p90)}>
        target 90 %; by the p50: {percent(all.coverage_p50)}, target 50 %
      </Figure>
      <Figure name="Forecast to start at once, and did" value={percent(all.at_once)}>
        within a minute
      </Figure>
      <Figure name="Median error, jobs with an estimate from Slurm" value={length(all.median_abs_error_seconds_beside_slurm)}>
        {all.slurm_jobs > 0
          ? `Slurm’s own error is ${length(all.slurm_median_abs_error_seconds)} on the same ${grouped(all.slurm_jobs)} jobs`
          : 'Slurm gave no estimates'}
      </Figure>
    </dl>
  );
}
