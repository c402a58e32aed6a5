// Who waits for GPUs, and why, by account. An account is named to whom Slurm would show its jobs.
import type { AccountQueue, Waiting } from '../../api/contract';
import { Name } from '../../parts/name';
import { Empty, Panel } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { decimal, grouped, plural } from '../../words/numbers';
import { clockTime } from '../../words/times';

const kMostReasons = 3;

export function WhoWaits({ data }: { data: Waiting }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  const rows = data.accounts;
  const named = rows.some((row) => row.account !== null);
  const nameOf = (row: AccountQueue) => (row === data.all ? 'all accounts' : row.account ?? (named ? 'other accounts' : 'all accounts'));
  const reasonsOf = (row: AccountQueue) => row.reasons.map((one) => `${plural(one.jobs, 'job')}: ${one.reason_words || one.reason || 'pending'}`);
  return (
    <Panel title="Who waits, and why" id="who" note={named || rows.length === 0 ? 'Jobs with GPUs, by account. Run times are forecasts.' : 'Account names are hidden from callers who are not signed in.'}>
      {data.all.pending === 0 ? <Empty>No job waits for GPUs.</Empty> : null}
      {rows.length > 0 ? (
        <DataTable
          caption="Who waits, and why"
          class="who"
          rows={rows}
          last={rows.length > 1 ? data.all : undefined}
          keyOf={(row) => (row === data.all ? '(all)' : row.account === null ? '(others)' : `account ${row.account}`)}
          columns={[
            { head: 'Account', cell: (row) => (row.account === null ? nameOf(row) : <Name of={row.account} />), value: nameOf },
            { head: 'Waiting jobs', cell: (row) => grouped(row.pending), value: (row) => row.pending, right: true },
            { head: 'GPUs requested', cell: (row) => grouped(row.pending_gpus), value: (row) => row.pending_gpus, right: true },
            { head: 'GPU-hours waiting', cell: (row) => decimal(row.pending_gpu_hours), value: (row) => row.pending_gpu_hours, right: true },
            { head: 'GPUs in use', cell: (row) => grouped(row.running_gpus), value: (row) => row.running_gpus, right: true },
            { head: 'Longest wait', cell: (row) => (row.oldest_submit === null ? '–' : length(now - row.oldest_submit)), value: (row) => (row.oldest_submit === null ? null : now - row.oldest_submit), right: true },
            { head: 'Next start (p50)', cell: (row) => clockTime(row.next_start_p50, now), value: (row) => (row.next_start_p50 === null ? null : row.next_start_p50 - now), right: true },
            { head: 'Why', cell: (row) => <Reasons words={reasonsOf(row)} />, value: (row) => reasonsOf(row).join('; ') },
          ]}
        />
      ) : null}
    </Panel>
  );
}

function Reasons({ words }: { words: string[] }) {
  if (words.length === 0) return <span class="quiet">–</span>;
  return (
    <ul class="reason-list">
      {words.slice(0, kMostReasons).map((one) => <li key={one}><bdi>{one}</bdi></li>)}
      {words.length > kMostReasons ? <li class="quiet" title={words.slice(kMostReasons).join('; ').slice(0, 2000)}>…</li> : null}
    </ul>
  );
}
