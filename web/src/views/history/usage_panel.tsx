// GPU-hours and their cost, or queue waits, by account and week.
import { useAnswer } from '../../live/live';
import type { AccountUsage, Usage, WeekWaits } from '../../api/contract';
import { Name } from '../../parts/name';
import { Select } from '../../parts/filters';
import { Answered, Empty, Panel } from '../../parts/panel';
import { DataTable } from '../../parts/table';
import { waitLength, waitLevel } from '../../words/durations';
import { decimal, grouped, plural } from '../../words/numbers';
import { clusterDay, weekDay } from '../../words/times';
import { WaitScale } from '../now/wait_cell';

const kMostWeeks = 26; // that the daemon tells
const kRestSeconds = 600;
const kWeek = 7 * 86400;

const kWhich = `At most ${kMostWeeks} weeks; the current one is not over.`;

type Shown = 'hours' | 'p50_seconds' | 'p90_seconds';

const kShown: Record<Shown, string> = { hours: 'GPU-hours', p50_seconds: 'Wait, median', p90_seconds: 'Wait, p90' };
const kOptions = Object.entries(kShown).map(([value, label]) => ({ value, label }));

const isShown = (key: string | null): key is Shown => key !== null && Object.hasOwn(kShown, key);

interface UsagePanelProps {
  weeks: number;
  offset: number;
  chosen: string | null; // of the address
}

export function UsagePanel({ weeks, offset, chosen }: UsagePanelProps) {
  const answer = useAnswer<Usage>(`v1/usage?weeks=${Math.min(weeks, kMostWeeks)}`, kRestSeconds);
  const shown = isShown(chosen) ? chosen : 'hours';
  return (
    <Panel
      title={`${kShown[shown]} by account and week`}
      id="usage"
      actions={shown === 'hours' ? undefined : <WaitScale past />}
      note={
        shown === 'hours'
          ? `GPU-hours of ended and running jobs, of all GPU types. ${kWhich}`
          : `Queue waits of the jobs that started in a week, on all GPU types. ${kWhich}`
      }
    >
      <div class="filters">
        <Select label="Show" name="accounts" value={shown} options={kOptions} />
      </div>
      <Answered of={answer}>{(data) => <Usage data={data} offset={offset} shown={shown} />}</Answered>
    </Panel>
  );
}

function Usage({ data, offset, shown }: { data: Usage; offset: number; shown: Shown }) {
  const { accounts, all } = data;
  if (accounts.length === 0) return <Empty>No job with GPUs ran in these weeks.</Empty>;
  const named = accounts.some((row) => row.account !== null);
  const priced = accounts.some((row) => row.cost !== null);
  const nameOf = (row: AccountUsage) => (row === all ? 'all accounts' : (row.account ?? (named ? 'other accounts' : 'all accounts')));
  const most = Math.max(...accounts.flatMap((row) => row.weekly_gpu_hours), 1e-9);
  return (
    <>
      {data.own_only ? <p class="note">Only your own jobs: this site keeps the usage of others private (PrivateData).</p> : null}
      {data.note ? (
        <p class="few">
          <bdi>{data.note}</bdi>
        </p>
      ) : null}
      {data.known_since !== null && data.known_since > (data.weeks[0] ?? 0) ? (
        <p class="note">The history begins on {clusterDay(data.known_since, offset)}. Earlier jobs are not counted.</p>
      ) : null}
      {named || data.own_only ? null : <p class="note">The sum over all accounts: names are hidden from callers who are not signed in.</p>}
      <DataTable
        caption={`${kShown[shown]} by account and week`}
        class="usage stacked"
        sort="sort-usage"
        rows={accounts}
        last={accounts.length > 1 ? all : undefined}
        keyOf={(row) => (row === all ? '(all)' : row.account === null ? '(others)' : `account ${row.account}`)}
        columns={[
          { head: 'Account', cell: (row) => (row.account === null ? nameOf(row) : <Name of={row.account} />), value: nameOf },
          { head: 'Jobs', value: (row) => row.jobs, words: grouped },
          { head: 'GPU-hours', value: (row) => row.gpu_hours, words: decimal },
          ...(priced && shown === 'hours' ? [{ head: 'Cost', cell: costWords, value: (row: AccountUsage) => row.cost, right: true }] : []),
          ...data.weeks
            .map((week, at) => ({ week, at }))
            .reverse()
            .map(({ week, at }) => ({
              head: `Week of ${weekDay(week)}`,
              right: true,
              ...(shown === 'hours'
                ? {
                    cell: (row: AccountUsage) =>
                      week + kWeek <= (data.known_since ?? Infinity) && !row.weekly_gpu_hours[at] ? (
                        <span class="quiet">–</span>
                      ) : (
                        <Hours value={row.weekly_gpu_hours[at] ?? 0} most={row === all ? 0 : most} />
                      ),
                    value: (row: AccountUsage) => row.weekly_gpu_hours[at] ?? 0,
                  }
                : {
                    cell: (row: AccountUsage) => <Wait of={row.weekly_waits[at]} shown={shown} />,
                    value: (row: AccountUsage) => row.weekly_waits[at]?.[shown] ?? null,
                  }),
            })),
        ]}
      />
      {all.unpriced_gpu_hours > 0 && shown === 'hours' ? (
        <p class="note">
          {priced
            ? `Cost (≥) is without ${decimal(all.unpriced_gpu_hours)} GPU-hours of GPU types that have no price in gpus.yaml.`
            : 'Cost is shown for GPU types that have a price in gpus.yaml.'}
        </p>
      ) : null}
    </>
  );
}

const costWords = (row: AccountUsage) => `${row.cost !== null && row.unpriced_gpu_hours > 0 ? '≥ ' : ''}${decimal(row.cost, 2)}`;

function Wait({ of, shown }: { of: WeekWaits | undefined; shown: 'p50_seconds' | 'p90_seconds' }) {
  const seconds = of?.[shown] ?? null;
  if (!of || seconds === null) return <span class="quiet">–</span>;
  return (
    <span class={`hours wait-${waitLevel(seconds)}`}>
      {waitLength(seconds)}
      <span class="unseen"> of {plural(of.jobs, 'job')}</span>
    </span>
  );
}

// The larger, the stronger its ground; a sum has none.
function Hours({ value, most }: { value: number; most: number }) {
  const level = most > 0 && value > 0 ? Math.min(5, Math.ceil((5 * value) / most)) : null;
  return <span class={level === null ? 'hours' : `hours heat-${level}`}>{decimal(value)}</span>;
}
