// The best places for common jobs: rows are GPUs × time limit, columns the first, second, third.
import type { BestChoice, BestRow } from '../../api/types';
import { Name } from '../../parts/name';
import { Table } from '../../parts/table';
import { limit, waitLevel } from '../../words/durations';
import { say } from '../../words/say';
import { WaitWords } from './wait_cell';
import { shapeWords } from './gpu_card';

export function BestTable({ rows }: { rows: BestRow[] }) {
  const sizes = [...new Set(rows.map((row) => row.gpus_per_node))];
  const most = Math.max(1, ...rows.map((row) => row.choices.length));
  const heads = [say('now.best.first'), say('now.best.second'), say('now.best.third')].slice(0, most);
  return (
    <Table caption={say('now.best')} class="best-table">
      <thead>
        <tr>
          <th scope="col">{say('now.best.job')}</th>
          <th scope="col">{say('now.best.limit')}</th>
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
                <th scope="row" class="limit" data-head={say('now.best.limit')}>{limit(row.time_limit_seconds)}</th>
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
