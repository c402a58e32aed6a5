// Who waits for GPUs, and why, by account. An account is named to whom Slurm would show its jobs.
import type { AccountQueue, WaitingAnswer } from '../../api/types';
import { Name } from '../../parts/name';
import { Empty, Panel } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { decimal, grouped } from '../../words/numbers';
import { say, sayCount } from '../../words/say';
import { clockTime } from '../../words/times';

const kMostReasons = 3;

export function WhoWaits({ data }: { data: WaitingAnswer }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  const rows = data.accounts;
  const named = rows.some((row) => row.account !== null);
  const nameOf = (row: AccountQueue) => (row === data.all ? say('now.whoAll') : row.account ?? (named ? say('now.whoOthers') : say('now.whoAll')));
  const reasonsOf = (row: AccountQueue) => row.reasons.map((one) => sayCount('count.reason', one.jobs, { reason: one.reason_words || one.reason || 'pending' }));
  return (
    <Panel title={say('now.who')} id="who" note={named || rows.length === 0 ? say('now.whoNote') : say('now.whoPublic')}>
      {data.all.pending === 0 ? <Empty>{say('now.whoNobody')}</Empty> : null}
      {rows.length > 0 ? (
        <DataTable
          caption={say('now.who')}
          class="who"
          rows={rows}
          last={rows.length > 1 ? data.all : undefined}
          keyOf={(row) => (row === data.all ? '(all)' : row.account === null ? '(others)' : `account ${row.account}`)}
          columns={[
            { head: say('now.who.account'), cell: (row) => (row.account === null ? nameOf(row) : <Name of={row.account} />), value: nameOf },
            { head: say('now.who.pending'), cell: (row) => grouped(row.pending), value: (row) => row.pending, right: true },
            { head: say('now.who.gpus'), cell: (row) => grouped(row.pending_gpus), value: (row) => row.pending_gpus, right: true },
            { head: say('now.who.hours'), cell: (row) => decimal(row.pending_gpu_hours), value: (row) => row.pending_gpu_hours, right: true },
            { head: say('now.who.running'), cell: (row) => grouped(row.running_gpus), value: (row) => row.running_gpus, right: true },
            { head: say('now.who.oldest'), cell: (row) => (row.oldest_submit === null ? '–' : length(now - row.oldest_submit)), value: (row) => (row.oldest_submit === null ? null : now - row.oldest_submit), right: true },
            { head: say('now.who.next'), cell: (row) => clockTime(row.next_start_p50, now), value: (row) => (row.next_start_p50 === null ? null : row.next_start_p50 - now), right: true },
            { head: say('now.who.why'), cell: (row) => <Reasons words={reasonsOf(row)} />, value: (row) => reasonsOf(row).join('; ') },
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
