// One row a GPU type: what its GPUs do now, and the wait for one, for half a node and for a node.
import { Fragment } from 'preact';
import type { FreeGpus, GpuWaits, HistoryGpu, NodeGroup, ShapeWait } from '../../api/contract';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { ShareBar } from '../../parts/share_bar';
import { Table } from '../../parts/table';
import { durationRange, limit as limitWords } from '../../words/durations';
import { grouped, memory, plural } from '../../words/numbers';
import { useKeptOf } from './kept';
import { moreWords } from './free_panel';
import { LastDay } from './last_day';
import { oneOf, splitOf } from './split';
import { WaitWords, waitClass } from './wait_cell';

const kShapes: [ShapeWait['shape'], string][] = [
  ['one', '1 GPU'],
  ['half_node', 'Half a node'],
  ['node', 'A node'],
];

interface GpuTableProps {
  gpus: GpuWaits[];
  groups: NodeGroup[];
  limit: number; // seconds: the time limit that waits are shown for
  days: HistoryGpu[]; // what each was in the last day; empty: not known
  free: FreeGpus | null;
  now: number;
}

export function GpuTable({ gpus, groups, limit, days, free, now }: GpuTableProps) {
  const waiting = gpus.filter((gpu) => splitOf(gpu, groups, oneOf(gpu, limit)).waits).length;
  return (
    <Table caption={`GPU types: their GPUs now, and waits with a time limit of ${limitWords(limit)}`} class="gpus-now stacked">
      <thead>
        <tr>
          <th scope="col">GPU</th>
          <th scope="col">GPUs now</th>
          <th scope="col">Last 24 h</th>
          {kShapes.map(([shape, words]) => (
            <th key={shape} scope="col">
              {words}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {gpus.map((gpu) => (
          <GpuRow
            key={gpu.gpu}
            gpu={gpu}
            groups={groups}
            limit={limit}
            waiting={waiting}
            day={days.find((one) => one.gpu === gpu.gpu)?.last_day ?? []}
            more={moreOf(free, gpu.gpu, now)}
          />
        ))}
      </tbody>
    </Table>
  );
}

const partWords = (part: { name: string; value: number }) => `${grouped(part.value)} ${part.name}`;

interface GpuRowProps {
  gpu: GpuWaits;
  groups: NodeGroup[];
  limit: number;
  waiting: number; // types of which a job waits for GPUs that are free
  day: number[];
  more: string; // when more are free
}

function moreOf(free: FreeGpus | null, gpu: string, now: number): string {
  const row = free?.gpus.find((one) => one.gpu === gpu);
  return free && row ? moreWords(free, row, now) : '';
}

function GpuRow({ gpu, groups, limit, waiting, day, more }: GpuRowProps) {
  const one = oneOf(gpu, limit);
  const { waits } = splitOf(gpu, groups, one);
  const { kept, show } = useKeptOf(waits ? gpu.gpu : null, limit, waiting);
  const split = splitOf(gpu, groups, one, kept?.gpus);
  const parts = [
    { name: 'free', value: split.free, kind: 'free' },
    { name: 'kept', value: split.kept, kind: 'promised' },
    { name: 'free, but not for this job', value: split.barred, kind: 'promised' },
    { name: split.known ? 'in use' : 'in use or kept', value: split.used, kind: 'used' },
    { name: 'unavailable', value: split.unavailable, kind: 'gone' },
  ];
  return (
    <tr id={`gpu-${gpu.gpu}`}>
      <th scope="row">
        <b>
          <Name of={gpu.gpu_name} wide />
        </b>
        <span class="sub">
          {memory(gpu.memory_bytes)} · {plural(gpu.nodes, 'node')} × {gpu.gpus_per_node}
        </span>
      </th>
      <td class="split">
        <ShareBar parts={parts} total={gpu.total} />
        <span>
          {parts
            .filter((part) => part.value > 0)
            .map((part, at) => (
              <Fragment key={part.name}>
                {at > 0 ? ' · ' : ''}
                {part.kind === 'gone' ? (
                  <a href={hashOf('nodes', { condition: 'broken', gpu: gpu.gpu })}>{partWords(part)}</a>
                ) : (
                  partWords(part)
                )}
              </Fragment>
            ))}
        </span>
        <span class="sub more">{more}</span>
        {split.waits ? show : null}
      </td>
      <td class="day" data-head="Last 24 h">
        <LastDay shares={day} />
      </td>
      <Waits gpu={gpu} limit={limit} />
    </tr>
  );
}

const sameWords = (waits: ShapeWait[]) =>
  new Set(waits.map((wait) => durationRange(wait.wait_p50_seconds, wait.wait_p90_seconds))).size <= 1;

/** A cell for each shape, or one for all that say the same. */
function Waits({ gpu, limit }: { gpu: GpuWaits; limit: number }) {
  const shown = gpu.waits.filter((wait) => kShapes.some(([shape]) => shape === wait.shape));
  const first = shown[0];
  if (!first) return <td colSpan={kShapes.length}>–</td>;
  if (shown.every((wait) => wait.wait_p50_seconds !== null) && sameWords(shown)) {
    const words = `size up to a node, any limit up to ${limitWords(Math.max(...shown.map((wait) => wait.time_limit_seconds)))}`;
    return (
      <td colSpan={kShapes.length} class={`wait ${waitClass(first)}`} data-head={`Any ${words}`}>
        <span class="unless-stacked">any {words}: </span>
        <WaitWords p50={first.wait_p50_seconds} p90={first.wait_p90_seconds} />
      </td>
    );
  }
  return (
    <>
      {kShapes.map(([shape, head]) => (
        <WaitCell key={shape} head={head} waits={gpu.waits.filter((wait) => wait.shape === shape)} limit={limit} />
      ))}
    </>
  );
}

function WaitCell({ head, waits, limit }: { head: string; waits: ShapeWait[]; limit: number }) {
  const wait = waits.find((one) => one.time_limit_seconds === limit);
  if (!wait) {
    return (
      <td class="wait quiet" data-head={head}>
        = 1 GPU
      </td>
    );
  }
  const { gpus_per_node: gpus, wait_p50_seconds: p50, wait_p90_seconds: p90, reason } = wait;
  const others = sameWords(waits) ? [] : waits.filter((one) => one !== wait && one.wait_p50_seconds !== null);
  return (
    <td class={`wait ${waitClass(wait)}`} data-head={gpus > 1 ? `${head}, ${gpus} GPUs` : head}>
      {p50 === null ? 'never' : <WaitWords p50={p50} p90={p90} />}
      <span class="sub">
        {gpus > 1 ? <span class="unless-stacked">{gpus} GPUs </span> : null}
        {p50 === null ? <bdi>{reason ?? 'such a job cannot run here'}</bdi> : null}
        {others.map((one) => (
          <span key={one.time_limit_seconds} class="other-limit">
            limit {limitWords(one.time_limit_seconds)}: {durationRange(one.wait_p50_seconds, one.wait_p90_seconds)}
          </span>
        ))}
      </span>
    </td>
  );
}
