// What cannot run the training, and why.
import type { Rejected } from '../../api/ask_types';
import { Name } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { plural } from '../../words/numbers';
import { phrase, sayCount } from '../../words/say';

export function Rejections({ rows }: { rows: Rejected[] }) {
  if (rows.length === 0) return null;
  const clusters = rows.some((row) => row.cluster !== undefined);
  return (
    <details class="rejected" open={rows.length <= 4}>
      <summary>{sayCount('count.rejected', rows.length)}</summary>
      <DataTable
        caption={phrase('What cannot run this training')}
        rows={rows.map((row, at) => ({ ...row, at }))}
        keyOf={(row) => row.at}
        columns={[
          ...(clusters ? [{ head: phrase('Cluster'), cell: (row: Rejected) => <Name of={row.cluster ?? ''} /> }] : []),
          { head: phrase('GPU'), cell: (row) => <Name of={row.gpu_name} /> },
          { head: phrase('GPUs'), cell: (row) => `${row.gpus_per_node}${row.nodes > 1 ? ` × ${plural(row.nodes, 'node')}` : ''}`, right: true },
          { head: phrase('Partition'), cell: (row) => <Name of={row.partition} /> },
          { head: phrase('Why not'), cell: (row) => <bdi>{row.reasons.join('; ')}</bdi> },
        ]}
      />
    </details>
  );
}
