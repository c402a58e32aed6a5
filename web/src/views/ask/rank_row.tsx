// One strategy of the ranking.
import { useState } from 'preact/hooks';
import type { Strategy } from '../../api/contract';
import { CopyLine } from '../../parts/copy';
import { Name } from '../../parts/name';
import { durationRange, length, waitLevel } from '../../words/durations';
import { decimal, gib, memory, percent, plural } from '../../words/numbers';
import { submitCommand } from './command';
import type { Asked } from './command';

export type Price = 'cost' | 'gpu_hours' | null;

interface RankRowProps {
  strategy: Strategy;
  among: Strategy[];
  asked: Asked | null; // null: no command is given
  price: Price;
  longest: number; // seconds, of all strategies
  dated: boolean; // there is a deadline
}

export function RankRow({ strategy: one, among, asked, price, longest, dated }: RankRowProps) {
  const [open, setOpen] = useState(false);
  const gpus = one.gpus_per_node * one.nodes;
  const name = `${one.gpu_name.slice(0, 60)} × ${one.gpus_per_node}${one.nodes > 1 ? ` × ${plural(one.nodes, 'node')}` : ''}`;
  const first = one.rank === 1 ? 'first-rank' : '';
  return (
    <tbody data-rank={one.rank} data-gpu={one.gpu} data-gpus={gpus} data-wait-p50={one.wait_p50_seconds} data-total-p50={one.total_p50_seconds}>
      <tr class={first}>
        <td class="right">{one.rank}</td>
        <th scope="row"><b><Name of={one.gpu_name} /></b> × {one.gpus_per_node}{one.nodes > 1 ? <span class="sub">× {plural(one.nodes, 'node')}</span> : null}</th>
        <td><Name of={one.partition} /></td>
        <td><span class={`chip wait-${waitLevel(one.wait_p90_seconds) ?? 5}`}>{durationRange(one.wait_p50_seconds, one.wait_p90_seconds)}</span></td>
        <td>{length(one.run_p50_seconds)}</td>
        <td>
          {length(one.total_p50_seconds)} <span class="to">– {length(one.total_p90_seconds)}</span>
          <Total one={one} longest={longest} />
        </td>
        {dated ? <td data-in-time={String(one.makes_deadline ?? '')}>{one.makes_deadline ? 'yes' : 'no'}<span class="sub">{percent(one.deadline_chance ?? null)}</span></td> : null}
        <td>{one.micro_batch} × {one.accumulation} × {gpus} = {one.effective_batch_size}<span class="sub">{one.precision} · {one.memory_checked === false ? 'memory not checked' : `${gib(one.memory_bytes)} of ${memory(one.gpu_memory_bytes)}`}</span></td>
        {price ? <td class="right" data-price={price}>{price === 'cost' ? decimal(one.cost, 2) : decimal((one.run_p50_seconds * gpus) / 3600)}</td> : null}
        <td class="right">{asked ? <button type="button" aria-expanded={open} aria-label={`Command for ${name}`} onClick={() => setOpen(!open)}>Command</button> : null}</td>
      </tr>
      <tr class={first}>
        <td />
        <td class="reasons" colSpan={7 + (price ? 1 : 0) + (dated ? 1 : 0)}>
          <ul>
            {[...one.reasons, ...one.notes].map((reason) => <li key={reason}><bdi>{reason}</bdi></li>)}
          </ul>
          {open && asked ? <CopyLine text={submitCommand(one, among, asked)} label={`the command that submits ${name}`} /> : null}
        </td>
      </tr>
    </tbody>
  );
}

// Wait, run, and the doubt beyond the median, on one scale for all rows.
function Total({ one, longest }: { one: Strategy; longest: number }) {
  const share = (seconds: number) => `${(100 * Math.max(0, seconds)) / Math.max(1, longest)}%`;
  const wait = Math.min(one.wait_p50_seconds, one.total_p50_seconds);
  return (
    <span class="total" aria-hidden="true">
      <i class="total-wait" style={{ width: share(wait) }} />
      <i class="total-run" style={{ width: share(one.total_p50_seconds - wait) }} />
      <i class="total-doubt" style={{ width: share(one.total_p90_seconds - one.total_p50_seconds) }} />
    </span>
  );
}
