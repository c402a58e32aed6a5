// Who waits for GPUs, and why, by account. An account is named to whom Slurm would show its jobs.
import type { AccountQueue, Waiting } from '../../api/contract';
import { Name } from '../../parts/name';
import { Empty, Panel } from '../../parts/panel';
import { hashOf } from '../../parts/route';
import { Sentences } from '../../parts/sentences';
import { DataTable } from '../../parts/table';
import { decimal, plural } from '../../words/numbers';
import { activityColumns } from '../table_columns';

const kMostReasons = 3;

export function WhoWaits({ data }: { data: Waiting }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  const rows = data.accounts;
  const named = rows.some((row) => row.account !== null);
  const nameOf = (row: AccountQueue) => (row === data.all ? 'all accounts' : (row.account ?? (named ? 'other accounts' : 'all accounts')));
  const reasonsOf = (row: AccountQueue) =>
    row.reasons.map((one) => `${plural(one.jobs, 'job')}: ${one.reason_words || one.reason || 'pending'}`);
  return (
    <Panel
      title="Who waits, and why"
      id="who"
      note={
        named || rows.length === 0
          ? 'Jobs with GPUs, by account. Run times are forecasts.'
          : 'Account names are hidden from callers who are not signed in.'
      }
    >
      {data.all.pending === 0 ? <Empty>No job waits for GPUs.</Empty> : null}
      {rows.length > 0 ? (
        <DataTable
          caption="Who waits, and why"
          class="who stacked"
          sort="sort-who"
          rows={rows}
          last={rows.length > 1 ? data.all : undefined}
          keyOf={(row) => (row === data.all ? '(all)' : row.account === null ? '(others)' : `account ${row.account}`)}
          columns={[
            { head: 'Account', cell: (row) => (row.account === null ? nameOf(row) : accountLink(row.account)), value: nameOf },
            ...activityColumns<AccountQueue>(now),
            { head: 'GPU-hours waiting', value: (row) => row.pending_gpu_hours, words: decimal },
            { head: 'Why', cell: (row) => <Reasons words={reasonsOf(row)} />, value: (row) => reasonsOf(row).join('; ') },
          ]}
        />
      ) : null}
    </Panel>
  );
}

const accountLink = (account: string) => (
  <a href={hashOf('queue', { state: 'pending', account })}>
    <Name of={account} />
  </a>
);

function Reasons({ words }: { words: string[] }) {
  if (words.length === 0) return <span class="quiet">–</span>;
  const rest = words.slice(kMostReasons);
  return (
    <>
      <Sentences of={words.slice(0, kMostReasons)} />
      {rest.length > 0 ? (
        <details>
          <summary>{plural(rest.length, 'other reason')}</summary>
          <Sentences of={rest} />
        </details>
      ) : null}
    </>
  );
}
