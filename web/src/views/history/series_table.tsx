// Steps of the history as a table, the newest first.
import type { HistoryStep } from '../../api/contract';
import { DataTable } from '../../parts/table';
import { decimal } from '../../words/numbers';
import { clusterTime } from '../../words/times';

export function SeriesTable({ caption, rows, offset }: { caption: string; rows: HistoryStep[]; offset: number }) {
  return (
    <DataTable
      caption={caption}
      rows={[...rows].reverse()}
      keyOf={(row) => row.time}
      columns={[
        { head: 'From', value: (row) => clusterTime(row.time, offset), order: (row) => row.time },
        { head: 'Jobs waiting', value: (row) => row.pending, words: decimal },
        { head: 'GPUs waited for', value: (row) => row.pending_gpus, words: decimal },
        { head: 'Allocated', value: (row) => row.busy_gpus, words: decimal },
      ]}
    />
  );
}
