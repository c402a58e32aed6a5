// Pools: what waits, runs and is free in each partition × GPU type. A pool's name filters by it.
import type { QueuePool } from '../../api/contract';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { Table } from '../../parts/table';
import { grouped } from '../../words/numbers';
import { restOfLabel } from '../pool_options';

interface PoolTableProps {
  pools: QueuePool[];
  partition: string | null;
  gpu: string | null;
}

export function PoolTable({ pools, partition, gpu }: PoolTableProps) {
  return (
    <Table caption="Jobs by partition and GPU type" class="groups">
      <thead>
        <tr>
          <th scope="col">Partition</th>
          <th scope="col">GPU</th>
          {['Pending jobs', 'Pending GPUs', 'Running jobs', 'Running GPUs', 'Free GPUs'].map((head) => (
            <th key={head} scope="col" class="right">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {pools.map((pool) => (
          <PoolRow key={`${pool.partition}/${pool.gpu}`} pool={pool} chosen={pool.partition === partition && (pool.gpu === gpu || (!gpu && pool.gpu === ''))} />
        ))}
      </tbody>
    </Table>
  );
}

function PoolRow({ pool, chosen }: { pool: QueuePool; chosen: boolean }) {
  const to = hashOf('queue', chosen ? {} : { partition: pool.partition, gpu: pool.gpu });
  const values = [pool.pending, pool.pending_gpus, pool.running, pool.running_gpus, pool.free];
  return (
    <tr class={chosen ? 'chosen' : ''} data-partition={pool.partition} data-gpu={pool.gpu} data-pending={pool.pending} data-running={pool.running} data-free={pool.free}>
      <th scope="row"><a href={to}><Name of={pool.partition} /><span class="unseen">{restOfLabel(pool, chosen)}</span></a></th>
      <td>{pool.gpu === '' ? <span class="quiet">no GPUs</span> : <Name of={pool.gpu_name} />}</td>
      {values.map((value, index) => (
        <td key={index} class={value === 0 ? 'right quiet' : 'right'}>{grouped(value)}</td>
      ))}
    </tr>
  );
}
