// GPU-hours and their cost by account and week.
import { useAnswer } from '../../live/live';
import type { AccountUsage, UsageAnswer } from '../../api/types';
import { Name } from '../../parts/name';
import { Answered, Empty, Panel } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { decimal, grouped } from '../../words/numbers';
import { say } from '../../words/say';
import { clusterDay } from '../../words/times';

const kMostWeeks = 26; // that the daemon tells
const kRestSeconds = 600;

export function UsagePanel({ weeks, offset }: { weeks: number; offset: number }) {
  const answer = useAnswer<UsageAnswer>(`v1/usage?weeks=${Math.min(weeks, kMostWeeks)}`, kRestSeconds);
  return (
    <Panel title={say('history.usage')} id="usage" note={say('history.usageNote')}>
      <Answered of={answer}>{(data) => <Usage data={data} offset={offset} />}</Answered>
    </Panel>
  );
}

function Usage({ data, offset }: { data: UsageAnswer; offset: number }) {
  const { accounts, all } = data;
  if (accounts.length === 0) return <Empty>{say('history.usageNone')}</Empty>;
  const named = accounts.some((row) => row.account !== null);
  const priced = accounts.some((row) => row.cost !== null);
  const nameOf = (row: AccountUsage) => (row === all ? say('now.whoAll') : row.account ?? (named ? say('now.whoOthers') : say('now.whoAll')));
  const most = Math.max(...accounts.flatMap((row) => row.weekly_gpu_hours), 1e-9);
  return (
    <>
      {data.own_only ? <p class="note" data-own>{say('history.usageOwn')}</p> : null}
      {data.note ? <p class="few" data-usage-note><bdi>{data.note}</bdi></p> : null}
      {data.known_since !== null && data.known_since > (data.weeks[0] ?? 0) ? <p class="note" data-known-since>{say('history.usageSince', { day: clusterDay(data.known_since, offset) })}</p> : null}
      {named || data.own_only ? null : <p class="note" data-public>{say('history.usagePublic')}</p>}
      <DataTable
        caption={say('history.usage')}
        class="usage"
        rows={accounts}
        last={accounts.length > 1 ? all : undefined}
        keyOf={(row) => (row === all ? '(all)' : row.account === null ? '(others)' : `account ${row.account}`)}
        columns={[
          { head: say('history.usage.account'), cell: (row) => (row.account === null ? nameOf(row) : <Name of={row.account} />), value: nameOf },
          { head: say('history.usage.jobs'), cell: (row) => grouped(row.jobs), value: (row) => row.jobs, right: true },
          { head: say('history.usage.hours'), cell: (row) => decimal(row.gpu_hours), value: (row) => row.gpu_hours, right: true },
          ...(priced ? [{ head: say('history.usage.cost'), cell: (row: AccountUsage) => decimal(row.cost, 2), value: (row: AccountUsage) => row.cost, right: true }] : []),
          ...data.weeks.map((week, at) => ({
            head: say('history.usage.week', { day: clusterDay(week, offset) }),
            cell: (row: AccountUsage) => <Hours value={row.weekly_gpu_hours[at] ?? 0} most={row === all ? 0 : most} />,
            value: (row: AccountUsage) => row.weekly_gpu_hours[at] ?? 0,
            right: true,
          })),
        ]}
      />
      {priced ? null : <p class="note">{say('history.noPrices')}</p>}
    </>
  );
}

// The larger, the stronger its ground; a sum has none.
function Hours({ value, most }: { value: number; most: number }) {
  const level = most > 0 && value > 0 ? Math.min(5, Math.ceil((5 * value) / most)) : null;
  return <span class={level === null ? 'hours' : `hours heat-${level}`}>{decimal(value)}</span>;
}
