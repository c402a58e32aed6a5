// Group: a row a person, with what runs and waits, and what the last weeks brought.
import type { Me, UserActivity, Users } from '../../api/contract';
import { useAnswer } from '../../live/live';
import { Figure } from '../../parts/figure';
import { Select } from '../../parts/filters';
import { Name, Names } from '../../parts/name';
import { Answering, Empty, Panel } from '../../parts/panel';
import { hashOf, requestOf } from '../../parts/route';
import { DataTable } from '../../parts/table';
import { length, waitLength } from '../../words/durations';
import { decimal, grouped, plural } from '../../words/numbers';
import { fullTime } from '../../words/times';
import { activityColumns } from '../table_columns';

const kWeeks = 4;
const kPeriods = [1, 4, 13, 26].map((weeks) => ({ value: String(weeks), label: plural(weeks, 'week') }));
const kRestSeconds = 60;
const kAll = '(all)'; // every account

export function GroupView({ params }: { params: URLSearchParams }) {
  const { data: me } = useAnswer<Me>('v1/me', 600);
  if (me?.anonymous) {
    return (
      <div class="answered" aria-busy={false}>
        <Panel title="Group" id="group">
          <p class="note">Users are shown to those who are signed in, through a login proxy.</p>
        </Panel>
      </div>
    );
  }
  return <Asked params={params} ready={me !== null} />;
}

function Asked({ params, ready }: { params: URLSearchParams; ready: boolean }) {
  const chosen = params.get('account');
  const account = chosen === kAll ? null : chosen;
  const said = params.get('weeks') ?? '';
  const weeks = kPeriods.some(({ value }) => value === said) ? Number(said) : kWeeks;
  const answer = useAnswer<Users>(ready ? requestOf('v1/users', { weeks, account }) : null, kRestSeconds);
  return (
    <Answering of={answer}>
      {(data) => (
        <Panel title="Group" id="group" note={`Jobs with GPUs: now, and in the last ${weeks === 1 ? 'week' : plural(weeks, 'week')}.`}>
          <div class="filters">
            <Select
              label="Account"
              name="account"
              value={chosen ?? kAll}
              options={[{ value: kAll, label: 'all' }, ...(data ? accountsOf(data).map((name) => ({ value: name, label: name })) : [])]}
            />
            <Select label="Period" name="weeks" value={String(weeks)} options={kPeriods} />
            {data && data.own_accounts.length > 0 ? (
              <p class="own-accounts">
                Yours:{' '}
                {data.own_accounts.map((name) => (
                  <a key={name} href={hashOf('group', { account: name })}>
                    <Name of={name} />{' '}
                  </a>
                ))}
              </p>
            ) : null}
          </div>
          {data ? <People data={data} account={account} /> : null}
        </Panel>
      )}
    </Answering>
  );
}

/** The caller's own first. */
const accountsOf = (data: Users) => [...new Set([...data.own_accounts, ...data.accounts])];

function People({ data, account }: { data: Users; account: string | null }) {
  const now = data.until;
  const { all } = data;
  const users = longestFirst(data.users);
  if (users.length === 0) return <Empty>No job with GPUs in these weeks.</Empty>;
  const nameOf = (row: UserActivity) => (row === all ? 'all' : (row.user ?? 'other users'));
  return (
    <>
      <dl class="figures-row">
        <Figure name="GPUs in use" value={grouped(all.running_gpus)}>
          {plural(all.running, 'job')}; {plural(all.pending, 'job')} waiting for {plural(all.pending_gpus, 'GPU')}
        </Figure>
        <Figure name="Median wait" value={waitLength(all.wait_p50_seconds)}>
          of all jobs on the cluster: {waitLength(data.cluster_wait_p50_seconds)}
        </Figure>
        <Figure name="Person-hours waited" value={decimal(all.stalled_hours)}>
          in which somebody’s jobs waited and none of theirs ran
        </Figure>
      </dl>
      <Waiting users={users} now={now} />
      {data.own_only ? <p class="note">Only your own jobs: this site keeps those of others private (PrivateData).</p> : null}
      {data.note ? (
        <p class="few">
          <bdi>{data.note}</bdi>
        </p>
      ) : null}
      {data.known_since !== null && data.known_since > data.since ? (
        <p class="note">The history begins on {fullTime(data.known_since)}. Earlier jobs are not counted.</p>
      ) : null}
      <DataTable
        caption="Users"
        class="users stacked"
        sort="sort-users"
        rows={users}
        last={users.length > 1 ? all : undefined}
        keyOf={(row) => (row === all ? '(all)' : row.user === null ? '(others)' : `user ${row.user}`)}
        columns={[
          { head: 'User', cell: (row) => (row.user === null ? nameOf(row) : userLink(row.user)), value: nameOf },
          ...(account === null
            ? [
                {
                  head: 'Accounts',
                  cell: (row: UserActivity) => (row === all ? '' : <Names of={row.accounts} />),
                  value: (row: UserActivity) => row.accounts.join(', '),
                },
              ]
            : []),
          ...activityColumns<UserActivity>(now),
          { head: 'Jobs', value: (row) => row.jobs, words: grouped },
          { head: 'GPU-hours', value: (row) => row.gpu_hours, words: decimal },
          { head: 'Median wait', value: (row) => row.wait_p50_seconds, words: waitLength },
          { head: 'Person-hours waited', value: (row) => row.stalled_hours, words: decimal },
        ]}
      />
    </>
  );
}

/** Who waits longest first, then those who wait for nothing, as the answer has them. */
const longestFirst = (users: UserActivity[]) =>
  [...users].sort((a, b) => (a.oldest_submit ?? Infinity) - (b.oldest_submit ?? Infinity) || 0);

const kMostNamed = 5;

/** "3 wait: ann (2 h 10), bob (40 min) and 1 more" */
function Waiting({ users, now }: { users: UserActivity[]; now: number }) {
  const waiting = users.filter((one) => one.user !== null && one.oldest_submit !== null);
  if (waiting.length === 0) return null;
  return (
    <p class="lead">
      {grouped(waiting.length)} {waiting.length === 1 ? 'waits' : 'wait'}:{' '}
      {waiting.slice(0, kMostNamed).map(({ user, oldest_submit }, at) => (
        <span key={user}>
          {at > 0 ? ', ' : ''}
          <Name of={user} /> ({length(now - (oldest_submit ?? now))})
        </span>
      ))}
      {waiting.length > kMostNamed ? ` and ${grouped(waiting.length - kMostNamed)} more` : ''}
    </p>
  );
}

const userLink = (user: string) => (
  <a href={hashOf('queue', { user })}>
    <Name of={user} />
  </a>
);
