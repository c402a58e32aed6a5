// Columns that several tables have: a row for each partition × GPU type, whose partition's name filters the view, or for each account
// or user.
import { Name } from '../parts/name';
import { hashOf } from '../parts/route';
import type { View } from '../parts/route';
import type { Column } from '../parts/table';
import { length } from '../words/durations';
import { grouped } from '../words/numbers';
import { clockTime, fullTime } from '../words/times';
import { restOfLabel } from './pool_options';
import type { PoolKey } from './pool_options';

export const isChosen = (pool: PoolKey, partition: string | null, gpu: string | null): boolean =>
  pool.partition === partition && (pool.gpu === gpu || (!gpu && pool.gpu === ''));

export function partitionColumn<Row extends PoolKey>(view: View, chosen: (row: Row) => boolean): Column<Row> {
  return {
    head: 'Partition',
    value: (row) => row.partition,
    cell: (row) => (
      <a href={hashOf(view, chosen(row) ? {} : { partition: row.partition, gpu: row.gpu })}>
        <Name of={row.partition} />
        <span class="unseen">{restOfLabel(row, chosen(row))}</span>
      </a>
    ),
  };
}

export function gpuColumn<Row extends PoolKey>(): Column<Row> {
  return {
    head: 'GPU',
    value: (row) => row.gpu_name,
    cell: (row) => (row.gpu === '' ? <span class="quiet">no GPUs</span> : <Name of={row.gpu_name} />),
  };
}

/** What somebody has in the queue now. */
interface Activity {
  pending: number;
  pending_gpus: number;
  running_gpus: number;
  oldest_submit: number | null;
  next_start_p50: number | null;
}

/** GPUs in use, and what waits, by the clock of the snapshot. */
export function activityColumns<Row extends Activity>(now: number): Column<Row>[] {
  return [
    { head: 'GPUs in use', value: (row) => row.running_gpus, words: grouped },
    { head: 'Waiting jobs', value: (row) => row.pending, words: grouped },
    { head: 'GPUs requested', value: (row) => row.pending_gpus, words: grouped },
    { head: 'Longest wait', value: (row) => (row.oldest_submit === null ? null : now - row.oldest_submit), words: length },
    {
      head: 'Next start (p50)',
      cell: (row) => clockTime(row.next_start_p50, now),
      value: (row) => (row.next_start_p50 === null ? null : fullTime(row.next_start_p50)),
      order: (row) => row.next_start_p50,
      right: true,
    },
  ];
}
