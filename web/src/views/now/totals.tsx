// The cluster in a few figures: GPUs in use, what is asked for, and how that was last day and week.
import type { HistoryAnswer, SeriesRow, WaitingAnswer } from '../../api/types';
import { Plot } from '../../charts/plot';
import { Panel } from '../../parts/panel';
import { decimal, grouped, percent } from '../../words/numbers';
import { say, sayCount } from '../../words/say';
import { clusterTime } from '../../words/times';

const kDay = 86400;
const kWeek = 7 * kDay;

interface TotalsProps {
  waiting: WaitingAnswer;
  history: HistoryAnswer | null;
}

export function Totals({ waiting: { gpus, all }, history }: TotalsProps) {
  const usable = Math.max(0, gpus.total - gpus.unavailable);
  return (
    <Panel title={say('now.cluster')} id="cluster">
      <dl class="figures-row totals">
        <Figure id="used" name={say('now.inUse')} value={grouped(gpus.used)} rest={say('now.inUseOf', { total: grouped(gpus.total), share: percent(usable > 0 ? gpus.used / Math.max(usable, gpus.used) : null) })} />
        <Figure id="free" name={say('now.free')} value={grouped(gpus.free)} rest={say('now.freeRest', { promised: grouped(gpus.promised), unavailable: grouped(gpus.unavailable) })} />
        <Figure id="wanted" name={say('now.waiting')} value={grouped(all.pending_gpus)} rest={sayCount('count.waitingJobs', all.pending)} />
        <Figure id="work" name={say('now.waitingWork')} value={decimal(all.pending_gpu_hours, all.pending_gpu_hours < 100 ? 1 : 0)} rest={say('now.waitingWorkRest')} />
        {history ? <Use id="day" name={say('now.lastDay')} history={history} seconds={kDay} /> : null}
        {history ? <Use id="week" name={say('now.lastWeek')} history={history} seconds={kWeek} /> : null}
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
export function useOf(history: HistoryAnswer, from: number, to: number): number | null {
  const total = history.gpus.reduce((sum, gpu) => sum + gpu.total, 0);
  const known = history.series.filter((row) => row.busy_gpus !== null && row.time < to && row.time + row.seconds > from);
  const part = (row: SeriesRow) => Math.min(to, row.time + row.seconds) - Math.max(from, row.time);
  const seconds = known.reduce((sum, row) => sum + part(row), 0);
  if (total <= 0 || seconds < (to - from) / 2) return null;
  return Math.min(1, known.reduce((sum, row) => sum + (row.busy_gpus ?? 0) * part(row), 0) / seconds / total);
}

function Use({ id, name, history, seconds }: { id: string; name: string; history: HistoryAnswer; seconds: number }) {
  const share = useOf(history, history.until - seconds, history.until);
  const before = useOf(history, history.until - 2 * seconds, history.until - seconds);
  return <Figure id={id} name={name} value={share === null ? '–' : percent(share)} rest={share === null ? say('now.notKnown') : before === null ? '' : say('now.before', { share: percent(before) })} />;
}

function Trend({ history }: { history: HistoryAnswer }) {
  const rows = history.series.filter((row) => row.time >= history.until - kWeek);
  if (!rows.some((row) => row.busy_gpus !== null)) return <p class="note" data-no-trend>{say('now.noHistory')}</p>;
  return (
    <Plot
      label={say('now.trend')}
      height={150}
      zoom
      x={rows.map((row) => row.time + history.utc_offset_seconds)}
      xWords={(at) => clusterTime(at, 0)}
      yWords={(value) => decimal(value)}
      lines={[
        { name: say('now.trendLine.busy'), token: '--series-1', values: rows.map((row) => row.busy_gpus) },
        { name: say('now.trendLine.wanted'), token: '--series-3', values: rows.map((row) => row.pending_gpus), dash: [5, 4] },
      ]}
    />
  );
}
