// The cluster in a few figures: GPUs in use, what is asked for, and how that was last day and week.
import type { History, HistoryStep, Waiting } from '../../api/contract';
import { Plot } from '../../charts/plot';
import { Panel } from '../../parts/panel';
import { decimal, grouped, percent, plural } from '../../words/numbers';
import { clusterTime } from '../../words/times';

const kDay = 86400;
const kWeek = 7 * kDay;

interface TotalsProps {
  waiting: Waiting;
  history: History | null;
}

export function Totals({ waiting: { gpus, all }, history }: TotalsProps) {
  const usable = Math.max(0, gpus.total - gpus.unavailable);
  return (
    <Panel title="Cluster" id="cluster">
      <dl class="figures-row totals">
        <Figure id="used" name="GPUs in use" value={grouped(gpus.used)} rest={`of ${grouped(gpus.total)} (${percent(usable > 0 ? gpus.used / Math.max(usable, gpus.used) : null)})`} />
        <Figure id="free" name="Free GPUs" value={grouped(gpus.free)} rest={`${grouped(gpus.promised)} promised to waiting jobs, ${grouped(gpus.unavailable)} unavailable`} />
        <Figure id="wanted" name="GPUs requested" value={grouped(all.pending_gpus)} rest={`by ${plural(all.pending, 'waiting job')}`} />
        <Figure id="work" name="GPU-hours waiting" value={decimal(all.pending_gpu_hours, all.pending_gpu_hours < 100 ? 1 : 0)} rest="by the median run time of such jobs" />
        {history ? <Use id="day" name="Utilisation, last 24 hours" history={history} seconds={kDay} /> : null}
        {history ? <Use id="week" name="Utilisation, last 7 days" history={history} seconds={kWeek} /> : null}
      </dl>
      {history ? <Trend history={history} /> : null}
    </Panel>
  );
}

interface FigureProps {
  id: string;
  name: string;
  value: string;
  rest: string;
}

function Figure({ id, name, value, rest }: FigureProps) {
  return (
    <div class="figure" data-total={id} data-words={value}>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <span>{rest}</span>
      </dd>
    </div>
  );
}

/** The share of GPUs in use from `from` to `to`, weighted by time; null where less than half of it is known. */
export function useOf(history: History, from: number, to: number): number | null {
  const total = history.gpus.reduce((sum, gpu) => sum + gpu.total, 0);
  const known = history.series.filter((row) => row.busy_gpus !== null && row.time < to && row.time + row.seconds > from);
  const part = (row: HistoryStep) => Math.min(to, row.time + row.seconds) - Math.max(from, row.time);
  const seconds = known.reduce((sum, row) => sum + part(row), 0);
  if (total <= 0 || seconds < (to - from) / 2) return null;
  return Math.min(1, known.reduce((sum, row) => sum + (row.busy_gpus ?? 0) * part(row), 0) / seconds / total);
}

function Use({ id, name, history, seconds }: { id: string; name: string; history: History; seconds: number }) {
  const share = useOf(history, history.until - seconds, history.until);
  const before = useOf(history, history.until - 2 * seconds, history.until - seconds);
  return <Figure id={id} name={name} value={share === null ? '–' : percent(share)} rest={share === null ? 'not known yet' : before === null ? '' : `${percent(before)} in the period before`} />;
}

function Trend({ history }: { history: History }) {
  const rows = history.series.filter((row) => row.time >= history.until - kWeek);
  if (!rows.some((row) => row.busy_gpus !== null)) return <p class="note" data-no-trend>No history yet. Trends appear once gpuadvised has watched the cluster for a day.</p>;
  return (
    <Plot
      label="GPUs in use and GPUs requested, last 7 days"
      height={150}
      zoom
      x={rows.map((row) => row.time + history.utc_offset_seconds)}
      xWords={(at) => clusterTime(at, 0)}
      yWords={(value) => decimal(value)}
      lines={[
        { name: 'GPUs in use', token: '--series-1', values: rows.map((row) => row.busy_gpus) },
        { name: 'GPUs requested by waiting jobs', token: '--series-3', values: rows.map((row) => row.pending_gpus), dash: [5, 4] },
      ]}
    />
  );
}
