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
        { head: 'GPUs', cell: (row) => row.gpus, value: (row) => row.gpus, right: true },
        { head: 'Jobs', cell: (row) => grouped(row.jobs), value: (row) => row.jobs, right: true },
        {
          head: 'Median error',
          cell: (row) => length(row.median_abs_error_seconds),
          value: (row) => row.median_abs_error_seconds,
          right: true,
        },
        { head: 'Within 10 min', cell: (row) => percent(row.within_600s), value: (row) => row.within_600s, right: true },
        { head: 'With a forecast wait', cell: (row) => grouped(row.covered_jobs), value: (row) => row.covered_jobs, right: true },
        {
          head: 'Their error',
          cell: (row) => length(row.covered_median_abs_error_seconds),
          value: (row) => row.covered_median_abs_error_seconds,
          right: true,
        },
        { head: 'Under p90', cell: (row) => percent(row.coverage_p90), value: (row) => row.coverage_p90, right: true },
        {
          head: 'Compared with Slurm',
          cell: (row) => length(row.median_abs_error_seconds_beside_slurm),
          value: (row) => row.median_abs_error_seconds_beside_slurm,
          right: true,
        },
        {
          head: 'Slurm’s error',
          cell: (row) => length(row.slurm_median_abs_error_seconds),
          value: (row) => row.slurm_median_abs_error_seconds,
          right: true,
        },
      ]}
    />
  );
}
