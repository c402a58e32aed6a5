// The cluster in two figures, and how much of it was allocated in the last week.
import type { History, HistoryStep, Waiting } from '../../api/contract';
import { Figure } from '../../parts/figure';
import { Plot } from '../../charts/plot';
import { Panel } from '../../parts/panel';
import { partOf, rangeOf, setRange } from '../../parts/range';
import { hashOf } from '../../parts/route';
import { decimal, grouped, percent, plural } from '../../words/numbers';
import { clockOffset, clusterTime } from '../../words/times';
import { BestTime } from '../history/best_time';
import { weekBefore } from '../history/week_before';
import { SeriesTable } from '../history/series_table';

const kDay = 86400;
const kWeek = 7 * kDay;
const kHeight = 150;

interface ClusterPanelProps {
  waiting: Waiting;
  history: History | null;
  settled: boolean; // there is an answer about the history, or an error
  params: URLSearchParams;
  held: number; // of the free GPUs, those that are kept from the job that the types are shown for
}

export function ClusterPanel({ waiting: { gpus, all }, history, settled, params, held }: ClusterPanelProps) {
  return (
    <Panel title="Cluster" id="cluster">
      <dl class="figures-row">
        <Figure name="Free GPUs" value={grouped(gpus.free - held)}>
          of {grouped(gpus.total)}: {grouped(gpus.used)} in use, {grouped(gpus.promised + held)} kept,{' '}
          {gpus.unavailable > 0 ? (
            <a href={hashOf('nodes', { condition: 'broken' })}>{grouped(gpus.unavailable)} unavailable</a>
          ) : (
            '0 unavailable'
          )}
        </Figure>
        <Figure name="GPUs that jobs wait for" value={grouped(all.pending_gpus)}>
          {plural(all.pending, 'job')}, {decimal(all.pending_gpu_hours, all.pending_gpu_hours < 100 ? 1 : 0)} GPU-hours by the median run
          time
        </Figure>
      </dl>
      <div class={settled && !isKnown(history) ? '' : 'trend'}>
        {history ? <Trend history={history} params={params} /> : settled ? <p class="note">The history is not known.</p> : null}
        {history && (history.best_time || isKnown(history)) ? <BestTime data={history} /> : null}
      </div>
    </Panel>
  );
}

/** Two hours make a line. */
const isKnown = (history: History | null) => knownOf(history).length >= 2;
const knownOf = (history: History | null) => (history?.series ?? []).filter((row) => row.busy_gpus !== null);

/** The share of GPUs allocated from `from` to `to`, weighted by time; null where less than half of it is known. */
export function allocatedShare(history: History, from: number, to: number): number | null {
  const total = history.gpus.reduce((sum, gpu) => sum + gpu.total, 0);
  const known = history.series.filter((row) => row.busy_gpus !== null && row.time < to && row.time + row.seconds > from);
  const part = (row: HistoryStep) => Math.min(to, row.time + row.seconds) - Math.max(from, row.time);
  const seconds = known.reduce((sum, row) => sum + part(row), 0);
  if (total <= 0 || seconds < (to - from) / 2) return null;
  return Math.min(1, known.reduce((sum, row) => sum + (row.busy_gpus ?? 0) * part(row), 0) / seconds / total);
}

function Trend({ history, params }: { history: History; params: URLSearchParams }) {
  const { until } = history;
  const chosen = partOf(
    rangeOf(params, until),
    knownOf(history).map((row) => row.time),
  );
  const [from, to] = chosen ?? [until - kWeek, until];
  const asked = history.series.filter((row) => row.time >= from && row.time <= to);
  const rows = asked.slice(asked.findIndex((row) => row.busy_gpus !== null)); // nothing is drawn of the time before
  if (asked.filter((row) => row.busy_gpus !== null).length < 2) {
    return <p class="note">No history yet. Trends appear once gpuadvised has watched the cluster for a day.</p>;
  }
  const ofDay = allocatedShare(history, until - kDay, until);
  const ofWeek = allocatedShare(history, until - kWeek, until);
  const before = allocatedShare(history, until - 2 * kWeek, until - kWeek);
  const said = [
    ...(ofDay === null ? [] : [`${percent(ofDay)} of all GPUs in the last 24 hours`]),
    ...(ofWeek === null ? [] : [`${percent(ofWeek)} in the last 7 days`]),
    ...(ofWeek === null || before === null ? [] : [`${percent(before)} in the 7 days before`]),
  ];
  const ahead = clockOffset(until);
  const span = chosen ? `${clusterTime(from, ahead)} – ${clusterTime(to, ahead)}` : 'last 7 days';
  return (
    <>
      <p class="note">
        {said.length > 0 ? `Allocated: ${said.join(', ')}. ` : null}
        {chosen ? (
          <>
            Below: {span}.{' '}
            <button type="button" class="link" onClick={() => setRange(null)}>
              Show the last 7 days
            </button>
          </>
        ) : null}
      </p>
      <Plot
        label={`GPUs allocated and GPUs that jobs wait for, ${span}: ${percent(chosen ? allocatedShare(history, from, to) : ofWeek)} allocated.`}
        height={kHeight}
        x={rows.map((row) => row.time + ahead)}
        xWords={(at) => clusterTime(at, 0)}
        yWords={(value) => decimal(value)}
        lines={[
          ...weekBefore(history.series, rows, [from, to], 'busy_gpus'),
          { name: 'allocated', token: '--series-1', values: rows.map((row) => row.busy_gpus) },
          { name: 'waited for', token: '--series-2', values: rows.map((row) => row.pending_gpus), dash: [5, 4] },
        ]}
      >
        <SeriesTable caption={`GPUs allocated and waited for, ${span}`} rows={rows} offset={ahead} />
      </Plot>
    </>
  );
}
