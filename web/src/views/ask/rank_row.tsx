// One strategy of the ranking.
import { useState } from 'preact/hooks';
import type { Strategy } from '../../api/contract';
import { Line, Mark, Span } from '../../charts/time_axis';
import type { Axis } from '../../charts/time_axis';
import { CopyLine } from '../../parts/copy';
import { Name } from '../../parts/name';
import { durationRange, length, waitLevel } from '../../words/durations';
import { decimal, memoryUse, percent, plural } from '../../words/numbers';
import { clockRange } from '../../words/times';
import { submitCommand } from './command';
import type { Asked } from './command';

export type Price = 'cost' | 'gpu_hours' | null;

interface RankRowProps {
  strategy: Strategy;
  among: Strategy[];
  asked: Asked | null; // null: no command is given
  price: Price;
  axis: Axis;
  dated: boolean; // there is a deadline
}

const kColumns = 7;

export function RankRow({ strategy: one, among, asked, price, axis, dated }: RankRowProps) {
  const [open, setOpen] = useState(false);
  const gpus = one.gpus_per_node * one.nodes;
  const name = `${one.gpu_name.slice(0, 60)} × ${one.gpus_per_node}${one.nodes > 1 ? ` × ${plural(one.nodes, 'node')}` : ''}`;
  const first = one.rank === 1 ? 'first-rank' : '';
  const { now } = axis;
  return (
    <tbody id={`rank-${one.rank}`}>
      <tr class={first}>
        <td class="right">{one.rank}</td>
        <th scope="row">
          <data value={one.gpu}>
            <b>
              <Name of={one.gpu_name} />
            </b>
          </data>{' '}
          × {one.gpus_per_node}
          {one.nodes > 1 ? <span class="sub">× {plural(one.nodes, 'node')}</span> : null}
          <span class="sub">
            <Name of={one.partition} />
          </span>
        </th>
        <td data-head="Wait p50 – p90">
          <data value={one.wait_p50_seconds} class={`chip wait-${waitLevel(one.wait_p90_seconds) ?? 5}`}>
            {durationRange(one.wait_p50_seconds, one.wait_p90_seconds)}
          </data>
        </td>
        <td data-head="Run">{length(one.run_p50_seconds)}</td>
        <td data-head="Done">
          {clockRange(now + one.total_p50_seconds, now + one.total_p90_seconds, now)}
          <span class="sub">
            after <data value={one.total_p50_seconds}>{length(one.total_p50_seconds)}</data> – {length(one.total_p90_seconds)}
          </span>
        </td>
        {dated ? (
          <td data-head="In time">
            {one.makes_deadline ? 'yes' : 'no'}
            <span class="sub">{percent(one.deadline_chance ?? null)}</span>
          </td>
        ) : null}
        <td data-head="Batch × acc. × GPUs">
          {one.micro_batch} × {one.accumulation} × {gpus} = {one.effective_batch_size}
          <span class="sub">
            {one.precision} · {one.memory_checked ? memoryUse(one.memory_bytes, one.gpu_memory_bytes) : 'memory not checked'}
          </span>
        </td>
        {price ? (
          <td class="right" data-head={price === 'cost' ? 'Cost' : 'GPU-hours'}>
            {price === 'cost' ? decimal(one.cost, 2) : decimal((one.run_p50_seconds * gpus) / 3600)}
          </td>
        ) : null}
        <td class="axis-column">
          <Schedule one={one} axis={axis} />
        </td>
        <td class="right">
          {asked ? (
            <button type="button" aria-expanded={open} aria-label={`Command for ${name}`} onClick={() => setOpen(!open)}>
              Command
            </button>
          ) : null}
        </td>
      </tr>
      <tr class={first}>
        <td />
        <td class="reasons" colSpan={kColumns + (price ? 1 : 0) + (dated ? 1 : 0)}>
          <ul>
            {[...one.reasons, ...one.notes].map((reason) => (
              <li key={reason}>
                <bdi>{reason}</bdi>
              </li>
            ))}
          </ul>
          {open && asked ? <CopyLine text={submitCommand(one, among, asked)} label={`the command that submits ${name}`} /> : null}
        </td>
      </tr>
    </tbody>
  );
}

// Wait, run, and the doubt beyond the median, on one axis for all rows.
function Schedule({ one, axis }: { one: Strategy; axis: Axis }) {
  const at = (seconds: number) => axis.now + seconds;
  const start = Math.min(one.wait_p50_seconds, one.total_p50_seconds);
  return (
    <Line>
      <Span axis={axis} from={at(start)} to={at(one.total_p50_seconds)} kind="run" />
      <Span axis={axis} from={at(one.total_p50_seconds)} to={at(one.total_p90_seconds)} kind="late" />
      <Span axis={axis} from={at(one.wait_p10_seconds)} to={at(one.wait_p90_seconds)} kind="start" />
      <Mark axis={axis} moment={at(start)} kind="median" />
    </Line>
  );
}
