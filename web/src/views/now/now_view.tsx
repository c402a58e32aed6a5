// Now: when a job would start, what each GPU type has, who waits and why, and the cluster last.
import { useRef } from 'preact/hooks';
import type { Frame, FreeGpus, History, HistoryGpu, Nodes, Waiting, Waits } from '../../api/contract';
import type { Loaded } from '../../api/loader';
import { useAnswer, useLive } from '../../live/live';
import { Empty, Of, Panel, Trouble } from '../../parts/panel';
import { rangeOf, weeksFor } from '../../parts/range';
import { hashOf, requestOf } from '../../parts/route';
import { limit as limitWords } from '../../words/durations';
import { kHistoryRestSeconds, kWeeks } from '../history/measure';
import { ClusterPanel } from './cluster_panel';
import { FreePanel, kFreePath, kFreeRestSeconds } from './free_panel';
import { GpuTable } from './gpu_table';
import { limitFor } from './question';
import { heldOf } from './split';
import { useStarts } from './starts';
import { StartsPanel } from './starts_panel';
import { WaitScale } from './wait_cell';
import { WhoWaits } from './who_waits';

// There is an answer, or an error other than that the daemon is starting or away.
const settled = ({ data, error }: Loaded<unknown>) => data !== null || (error !== null && error.status !== 0 && error.status !== 503);

/** What is drawn of two answers is as old as the older. */
const older = (one: Frame, other: Frame | null): Frame =>
  (other?.meta.snapshot_taken_at ?? Infinity) < (one.meta.snapshot_taken_at ?? 0) && other ? other : one;

export function NowView({ params }: { params: URLSearchParams }) {
  const live = useLive();
  const free = useAnswer<FreeGpus>(kFreePath, kFreeRestSeconds);
  const seen = live.snapshot?.snapshot_taken_at ?? 0;
  const weeks = weeksFor(rangeOf(params, seen), seen, kWeeks);
  const waits = useAnswer<Waits>('v1/waits');
  const nodes = useAnswer<Nodes>('v1/nodes?limit=0');
  const waiting = useAnswer<Waiting>('v1/waiting');
  const history = useAnswer<History>(requestOf('v1/history', { weeks }), kHistoryRestSeconds);
  const now = waits.data?.meta.snapshot_taken_at ?? live.snapshot?.snapshot_taken_at ?? Math.round(Date.now() / 1000);
  // What stands below is drawn once all of it is there: nothing pushes anything down.
  const ready = useRef(false);
  ready.current ||= [waits, nodes, waiting].every(settled);
  const data = waits.data;
  const asked = useStarts(params, data, now);
  const limit = data ? limitFor(data.gpus, asked.question.hours) : 0;
  return (
    <div class="answered" aria-busy={!ready.current || waits.loading}>
      {waits.error ? <Trouble error={waits.error} hasData={data !== null} /> : null}
      <Of answer={asked.selection?.data ?? data}>
        <StartsPanel asked={asked} params={params} now={now} failed={waits.error !== null && data === null} />
      </Of>
      {!ready.current && !waits.error ? <p class="waiting">Asking the daemon …</p> : null}
      {ready.current && data ? (
        <Of answer={older(data, nodes.data)}>
          <Types
            data={data}
            nodes={nodes.data}
            limit={limit}
            asked={asked.question.hours * 3600}
            days={history.data?.gpus ?? []}
            free={free.data}
            now={now}
          />
        </Of>
      ) : null}
      {ready.current && data && data.gpus.length > 0 ? (
        <Of answer={free.data}>
          <FreePanel types={data.gpus} free={free} asked={asked} now={now} />
        </Of>
      ) : null}
      {ready.current && waiting.data ? (
        <Of answer={waiting.data}>
          <WhoWaits data={waiting.data} />
        </Of>
      ) : null}
      {ready.current && waiting.error && !waiting.data && !waits.error ? <Trouble error={waiting.error} hasData={false} /> : null}
      {ready.current && waiting.data ? (
        <Of answer={waiting.data}>
          <ClusterPanel
            waiting={waiting.data}
            history={history.data}
            settled={settled(history)}
            params={params}
            held={data ? heldOf(data.gpus, nodes.data?.groups ?? [], limit) : 0}
          />
        </Of>
      ) : null}
      {ready.current && data ? (
        <p class="record">
          <bdi>{data.forecast.note}</bdi>. <a href={hashOf('accuracy')}>Details</a>
        </p>
      ) : null}
    </div>
  );
}

interface TypesProps {
  data: Waits;
  nodes: Nodes | null;
  limit: number;
  asked: number; // the time limit of the question, in seconds
  days: HistoryGpu[];
  free: FreeGpus | null;
  now: number;
}

function Types({ data, nodes, asked, ...shown }: TypesProps) {
  const longest = asked > shown.limit ? ` (the longest that is known here; your job has ${limitWords(asked)})` : '';
  const note = `Waits with a time limit of ${limitWords(shown.limit)}${longest}, median – 90th percentile; other limits where they differ.`;
  return (
    <Panel title="GPU types" id="waits" note={note} actions={<WaitScale />}>
      {data.gpus.length === 0 ? <Empty>No partition that you may see has GPUs.</Empty> : null}
      {data.gpus.length > 0 ? <GpuTable gpus={data.gpus} groups={nodes?.groups ?? []} {...shown} /> : null}
    </Panel>
  );
}
