// Pools: what waits, runs and is free in each partition × GPU type. A pool's name filters by it.
import type { QueuePool } from '../../api/contract';
import { DataTable } from '../../parts/table';
import { useShortTypes } from '../short_types';
import { gpuColumn, isChosen, partitionColumn } from '../table_columns';
import { grouped } from '../../words/numbers';

interface PoolTableProps {
  pools: QueuePool[];
  partition: string | null;
  gpu: string | null;
}

export function PoolTable({ pools, partition, gpu }: PoolTableProps) {
  const [{ types }] = useShortTypes();
  const chosen = (pool: QueuePool) => isChosen(pool, partition, gpu);
  return (
    <DataTable
      caption="Jobs by partition and GPU type"
      class="groups"
      sort="sort-pools"
      rows={pools}
      keyOf={(pool) => `${pool.partition}/${pool.gpu}`}
      rowClass={(pool) => (chosen(pool) ? 'chosen' : undefined)}
      columns={[
        partitionColumn<QueuePool>('queue', chosen),
        gpuColumn<QueuePool>(),
        { head: 'Pending jobs', value: (pool) => pool.pending, words: grouped },
        { head: 'Pending GPUs', value: (pool) => pool.pending_gpus, words: grouped },
        { head: 'Running jobs', value: (pool) => pool.running, words: grouped },
        { head: 'Running GPUs', value: (pool) => pool.running_gpus, words: grouped },
        { head: 'Free GPUs', value: (pool) => (types.has(pool.gpu) ? 0 : pool.free), words: grouped },
      ]}
    />
  );
}
