// The record by GPU type and number of GPUs.
import type { Accuracy } from '../../api/contract';
import { Name } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, percent } from '../../words/numbers';

export function ByGpuTable({ rows }: { rows: Accuracy['by_gpu'] }) {
  return (
    <DataTable
      caption="Accuracy by GPU type and number of GPUs"
      rows={rows}
      keyOf={(row) => `${row.gpu}/${row.gpus}`}
      columns={[
        { head: 'GPU', cell: (row) => <Name of={row.gpu_name || 'no GPU'} />, value: (row) => row.gpu_name },
        { head: 'GPUs', value: (row) => row.gpus, right: true },
        { head: 'Jobs', value: (row) => row.jobs, words: grouped },
        { head: 'Median error', value: (row) => row.median_abs_error_seconds, words: length },
        { head: 'Within 10 min', value: (row) => row.within_600s, words: percent },
        { head: 'With a forecast wait', value: (row) => row.covered_jobs, words: grouped },
        { head: 'Their error', value: (row) => row.covered_median_abs_error_seconds, words: length },
        { head: 'Under p90', value: (row) => row.coverage_p90, words: percent },
        { head: 'Compared with Slurm', value: (row) => row.median_abs_error_seconds_beside_slurm, words: length },
        { head: 'Slurm’s error', value: (row) => row.slurm_median_abs_error_seconds, words: length },
      ]}
    />
  );
}
