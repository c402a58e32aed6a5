// Many runs of a training (a job array) as one row above the ranking: which strategy gets which, and when the last of them ends.
import type { Sweep, Strategy } from '../../api/contract';
import { Line, Span } from '../../charts/time_axis';
import type { Axis } from '../../charts/time_axis';
import { Name } from '../../parts/name';
import { duration, length } from '../../words/durations';
import { decimal, grouped, plural } from '../../words/numbers';
import { clockRange } from '../../words/times';
import type { Price } from './rank_row';

interface SweepRowProps {
  sweep: Sweep;
  among: Strategy[];
  price: Price;
  axis: Axis;
  dated: boolean;
}

export function SweepRow({ sweep, among, price, axis, dated }: SweepRowProps) {
  const { now } = axis;
  const first = Math.min(...sweep.shares.map((share) => share.start_p50_seconds));
  const columns = 7 + (price ? 1 : 0) + (dated ? 1 : 0);
  return (
    <tbody id="rank-sweep">
      <tr class="first-rank">
        <td />
        <th scope="row">
          All {plural(sweep.members, 'run')}
          {sweep.shares.map((share) => (
            <span key={share.rank} class="sub">
              {share.array}: <Gpus of={among.find((one) => one.rank === share.rank)} />
            </span>
          ))}
        </th>
        <td data-head="Wait p50 – p90">
          {duration(first)}
          <span class="sub">of the first run</span>
        </td>
        <td data-head="Run">
          {length(sweep.half_done_p50_seconds)}
          <span class="sub">until half have ended</span>
        </td>
        <td data-head="Done">
          {clockRange(now + sweep.makespan_p50_seconds, now + sweep.makespan_p90_seconds, now)}
          <span class="sub">
            after <data value={sweep.makespan_p50_seconds}>{length(sweep.makespan_p50_seconds)}</data> –{' '}
            {length(sweep.makespan_p90_seconds)}
          </span>
        </td>
        {dated ? <td data-head="In time">–</td> : null}
        <td data-head="Batch × acc. × GPUs">
          {sweep.shares.map((share) => (
            <span key={share.rank} class="sub">
              {share.array}: {grouped(share.at_a_time)} at a time
            </span>
          ))}
        </td>
        {price ? <td class="right">{price === 'cost' ? '–' : decimal(sweep.gpu_hours)}</td> : null}
        <td class="axis-column">
          <Line>
            <Span axis={axis} from={now + first} to={now + sweep.makespan_p50_seconds} kind="run" />
            <Span axis={axis} from={now + sweep.makespan_p50_seconds} to={now + sweep.makespan_p90_seconds} kind="late" />
          </Line>
        </td>
        <td />
      </tr>
      <tr class="first-rank">
        <td />
        <td class="reasons" colSpan={columns}>
          <ul>
            {sentencesOf(sweep).map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </td>
      </tr>
    </tbody>
  );
}

function Gpus({ of: one }: { of: Strategy | undefined }) {
  if (!one) return <>–</>;
  return (
    <>
      <Name of={one.gpu_name} /> × {one.gpus_per_node}
      {one.nodes > 1 ? ` × ${plural(one.nodes, 'node')}` : ''}, <Name of={one.partition} />
    </>
  );
}

function sentencesOf(sweep: Sweep): string[] {
  const said: string[] = [];
  if (sweep.shares.length > 1) {
    const alone = length(sweep.single_makespan_p50_seconds);
    said.push(`split over ${sweep.shares.length} strategies; all runs on strategy ${sweep.single_rank} alone take ${alone}`);
  }
  if (sweep.as_it_waits) said.push(`where they wait now they take ${length(sweep.as_it_waits.p50_seconds)}`);
  if (sweep.others_delay_seconds) {
    const jobs = decimal(sweep.others_delayed ?? null, 0);
    said.push(`jobs of others start ${length(sweep.others_delay_seconds)} later in all, ${jobs} of them by more than a minute`);
  }
  if (sweep.later_than_played) said.push('some runs start after the simulated time, so the end is early');
  return said;
}
