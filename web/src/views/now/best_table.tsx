// The best places for common jobs: rows are GPUs × time limit, columns the first, second, third.
import type { BestChoice, BestChoices } from '../../api/contract';
import { Name } from '../../parts/name';
import { Table } from '../../parts/table';
import { limit, waitLevel } from '../../words/durations';
import { WaitWords } from './wait_cell';
import { shapeWords } from './gpu_card';

export function BestTable({ rows }: { rows: BestChoices[] }) {
  const sizes = [...new Set(rows.map((row) => row.gpus_per_node))];
  const most = Math.max(1, ...rows.map((row) => row.choices.length));
  const heads = ['First', 'Second', 'Third'].slice(0, most);
  return (
    <Table caption="Where a job starts first" class="best-table">
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">Time limit</th>
          {heads.map((head) => <th key={head} scope="col">{head}</th>)}
        </tr>
      </thead>
      {sizes.map((size) => (
        <tbody key={size}>
          {rows
            .filter((row) => row.gpus_per_node === size)
            .map((row, index, group) => (
              <tr key={row.time_limit_seconds} data-best={`${row.gpus_per_node}x${row.nodes}@${row.time_limit_seconds}`}>
                {index === 0 ? <th scope="rowgroup" rowSpan={group.length}>{shapeWords(row)}</th> : null}
                <th scope="row" class="limit" data-head="Time limit">{limit(row.time_limit_seconds)}</th>
                {heads.map((head, at) => <Place key={head} choice={row.choices[at]} />)}
              </tr>
            ))}
        </tbody>
      ))}
    </Table>
  );
}

function Place({ choice }: { choice: BestChoice | undefined }) {
  if (!choice) return <td class="quiet">–</td>;
  return (
    <td data-gpu={choice.gpu} data-partition={choice.partition}>
      <span class="place">
        <b><Name of={choice.gpu_name} /></b>
        <span class="quiet"><Name of={choice.partition} /></span>
        <span class={`chip wait-${waitLevel(choice.wait_p90_seconds ?? choice.wait_p50_seconds) ?? 5}`}>
          <WaitWords p50={choice.wait_p50_seconds} p90={choice.wait_p90_seconds} />
        </span>
      </span>
    </td>
  );
}
