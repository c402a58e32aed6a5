// Pools: what waits, runs and is free in each partition × GPU type. A pool's name filters by it.
import type { QueuePool } from '../../api/contract';
import { DataTable } from '../../parts/table';
import { useShortTypes } from '../short_types';
import { countColumn, gpuColumn, isChosen, partitionColumn } from '../table_columns';

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
        countColumn<QueuePool>('Pending jobs', (pool) => pool.pending),
        countColumn<QueuePool>('Pending GPUs', (pool) => pool.pending_gpus),
        countColumn<QueuePool>('Running jobs', (pool) => pool.running),
        countColumn<QueuePool>('Running GPUs', (pool) => pool.running_gpus),
        countColumn<QueuePool>('Free GPUs', (pool) => (types.has(pool.gpu) ? 0 : pool.free)),
      ]}
    />
  );
}
