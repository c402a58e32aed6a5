// What cannot run the training, and why.
import type { Rejection } from '../../api/contract';
import { Name } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { plural } from '../../words/numbers';

export function Rejections({ rows }: { rows: Rejection[] }) {
  if (rows.length === 0) return null;
  return (
    <details class="rejected" open={rows.length <= 4}>
      <summary>{plural(rows.length, 'way')} that cannot run it, and why</summary>
      <DataTable
        caption="What cannot run this training"
        rows={rows.map((row, at) => ({ ...row, at }))}
        keyOf={(row) => row.at}
        columns={[
          { head: 'GPU', cell: (row) => <Name of={row.gpu_name} /> },
          { head: 'GPUs', cell: (row) => `${row.gpus_per_node}${row.nodes > 1 ? ` × ${plural(row.nodes, 'node')}` : ''}`, right: true },
          { head: 'Partition', cell: (row) => <Name of={row.partition} /> },
          { head: 'Why not', cell: (row) => <bdi>{row.reasons.join('; ')}</bdi> },
        ]}
      />
    </details>
  );
}
