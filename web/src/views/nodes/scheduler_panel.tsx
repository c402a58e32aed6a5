// What slurmctld says of its own work, for operators: cycles of both schedulers, how deep backfill looks, RPCs.
import type { SchedulerCycles, SchedulerHealth } from '../../api/contract';
import { useAnswer } from '../../live/live';
import { Figure } from '../../parts/figure';
import { Panel } from '../../parts/panel';
import { workTime } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockTime } from '../../words/times';

const kRestSeconds = 300; // the daemon reads it as often

/** Nothing where the daemon does not read it. */
export function SchedulerPanel() {
  const { data } = useAnswer<SchedulerHealth>('v1/scheduler', kRestSeconds);
  if (!data || (data.read_at === null && data.problem === null)) return null;
  const now = data.meta.snapshot_taken_at ?? 0;
  return (
    <Panel title="Scheduler" id="scheduler" note={noteOf(data, now)}>
      {data.read_at === null ? null : (
        <dl class="figures-row">
          <Cycles name="Main scheduler, mean cycle" of={data.main} />
          <Cycles name="Backfill, mean cycle" of={data.backfill}>
            {data.backfilled_jobs === null ? '' : `; ${plural(data.backfilled_jobs, 'job')} started`}
          </Cycles>
          <Figure name="RPCs" value={grouped(data.rpcs)}>
            mean {workTime(data.rpc_mean_seconds)}; {grouped(data.server_threads)} threads busy, {grouped(data.agent_queue)} messages to
            nodes waiting
          </Figure>
        </dl>
      )}
    </Panel>
  );
}

function noteOf({ problem, read_at, since }: SchedulerHealth, now: number) {
  if (problem !== null) return <bdi>{problem}</bdi>;
  return `By sdiag at ${clockTime(read_at, now)}, counted since ${clockTime(since, now)}.`;
}

function Cycles({ name, of, children }: { name: string; of: SchedulerCycles; children?: string }) {
  return (
    <Figure name={name} value={workTime(of.mean_seconds)}>
      last {workTime(of.last_seconds)}, longest {workTime(of.max_seconds)}; looks at {grouped(of.mean_depth)} jobs,{' '}
      {grouped(of.queue_length)} in its queue{children}
    </Figure>
  );
}
