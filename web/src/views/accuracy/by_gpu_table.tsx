// The record by GPU type and number of GPUs.
import type { AccuracyAnswer } from '../../api/types';
import { Name } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, percent } from '../../words/numbers';
import { phrase, say } from '../../words/say';

export function ByGpuTable({ rows }: { rows: AccuracyAnswer['by_gpu'] }) {
  return (
    <DataTable
      caption={phrase('Accuracy by GPU type and number of GPUs')}
      rows={rows}
      keyOf={(row) => `${row.gpu}/${row.gpus}`}
      columns={[
        { head: phrase('GPU'), cell: (row) => <Name of={row.gpu_name || phrase('no GPU')} /> },
        { head: phrase('GPUs'), cell: (row) => row.gpus, right: true },
        { head: phrase('Jobs'), cell: (row) => grouped(row.jobs), right: true },
        { head: phrase('Median error'), cell: (row) => length(row.median_abs_error_seconds), right: true },
        { head: phrase('Within 10 min'), cell: (row) => percent(row.within_600s), right: true },
        { head: say('accuracy.withWait'), cell: (row) => grouped(row.covered_jobs), right: true },
        { head: phrase('Their error'), cell: (row) => length(row.covered_median_abs_error_seconds), right: true },
        { head: phrase('Under p90'), cell: (row) => percent(row.coverage_p90), right: true },
        { head: say('accuracy.comparedSlurm'), cell: (row) => length(row.median_abs_error_seconds_beside_slurm), right: true },
        { head: say('accuracy.slurms'), cell: (row) => length(row.slurm_median_abs_error_seconds), right: true },
      ]}
    />
  );
}
