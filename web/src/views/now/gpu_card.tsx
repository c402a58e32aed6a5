// One kind of GPU: how many are free, and the waits for shapes × time limits.
import type { GpuWaits, ShapeWait } from '../../api/contract';
import { Name, Names } from '../../parts/name';
import { ShareBar } from '../../parts/share_bar';
import { Table } from '../../parts/table';
import { limit } from '../../words/durations';
import { grouped, memory, plural } from '../../words/numbers';
import { WaitCell } from './wait_cell';

export function GpuCard({ gpu }: { gpu: GpuWaits }) {
  const used = Math.max(0, gpu.usable - gpu.free);
  const gone = Math.max(0, gpu.total - gpu.usable);
  const parts = [
    { name: 'free', value: gpu.free, kind: 'free' },
    { name: 'in use', value: used, kind: 'used' },
    { name: 'down or drained', value: gone, kind: 'gone' },
  ];
  return (
    <article class="card" data-gpu={gpu.gpu} data-free={gpu.free} data-total={gpu.total} data-usable={gpu.usable} aria-labelledby={`gpu-${gpu.gpu}`}>
      <div class="card-head">
        <h3 id={`gpu-${gpu.gpu}`}><Name of={gpu.gpu_name} wide /></h3>
        <span class="card-memory">{memory(gpu.memory_bytes)}</span>
        <span class="card-free">
          <b>{grouped(gpu.free)}</b> / {grouped(gpu.total)} free
        </span>
      </div>
      <ShareBar parts={parts} total={gpu.total} />
      <p class="card-where">
        {plural(gpu.nodes, 'node')} × {gpu.gpus_per_node} in <Names of={gpu.partitions} />
        {gone > 0 ? <span class="gone-words"> · {grouped(gone)} down or drained</span> : null}
      </p>
      {gpu.waits.length > 0 ? <WaitTable gpu={gpu} /> : null}
    </article>
  );
}

function WaitTable({ gpu }: { gpu: GpuWaits }) {
  const limits = [...new Set(gpu.waits.map((wait) => wait.time_limit_seconds))].sort((a, b) => a - b);
  const shapes = [...new Set(gpu.waits.map((wait) => wait.shape))];
  return (
    <Table caption={`Waits for ${gpu.gpu_name.slice(0, 60)}, median to p90`} class="wait-table">
      <thead>
        <tr>
          <th scope="col"><span class="unseen">Job</span></th>
          {limits.map((seconds) => (
            <th key={seconds} scope="col">{limit(seconds)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shapes.map((shape) => (
          <ShapeRow key={shape} waits={gpu.waits.filter((wait) => wait.shape === shape)} limits={limits} />
        ))}
      </tbody>
    </Table>
  );
}

function ShapeRow({ waits, limits }: { waits: ShapeWait[]; limits: number[] }) {
  const first = waits[0];
  if (!first) return null;
  const never = waits.every((wait) => wait.wait_p50_seconds === null);
  return (
    <tr data-shape={first.shape}>
      <th scope="row">{shapeWords(first)}</th>
      {never ? (
        <td colSpan={limits.length} class="wait wait-never" title={first.reason ?? undefined}>
          <span class="never-reason">never: <bdi>{first.reason ?? 'such a job cannot run here'}</bdi></span>
        </td>
      ) : (
        limits.map((seconds) => <LimitCell key={seconds} wait={waits.find((one) => one.time_limit_seconds === seconds)} />)
      )}
    </tr>
  );
}

function LimitCell({ wait }: { wait: ShapeWait | undefined }) {
  if (!wait) return <td class="wait">–</td>;
  const title = wait.reason ?? (wait.partition ? `first in partition ${wait.partition}`.slice(0, 300) : undefined);
  return <WaitCell p50={wait.wait_p50_seconds} p90={wait.wait_p90_seconds} title={title} />;
}

/** "1 GPU", "2 × 8 GPUs". */
export function shapeWords(shape: { gpus_per_node: number; nodes: number }): string {
  const gpus = plural(shape.gpus_per_node, 'GPU');
  return shape.nodes > 1 ? `${shape.nodes} × ${gpus}` : gpus;
}
