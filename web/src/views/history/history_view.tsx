// History: waits, use and queue by hour of the week, by week, and over time.
import { useAnswer, useLive } from '../../live/live';
import type { History } from '../../api/contract';
import { Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { rangeOf, weeksFor } from '../../parts/range';
import { numberParam, requestOf } from '../../parts/route';
import { soFar } from '../../words/times';
import { BestTime } from './best_time';
import { HeatMap, HeatTable } from './heat_map';
import { kHistoryRestSeconds, kMeasures, kWeeks, measureOf } from './measure';
import type { Measure } from './measure';
import { WaitScale } from '../now/wait_cell';
import { OverTime } from './over_time';
import { ByWeek } from './by_week';
import { UsagePanel } from './usage_panel';

export function HistoryView({ params }: { params: URLSearchParams }) {
  const now = useLive().snapshot?.snapshot_taken_at ?? 0;
  const weeks = weeksFor(rangeOf(params, now), now, Math.min(57, Math.max(1, numberParam(params, 'weeks', kWeeks))));
  const gpu = params.get('gpu') ?? '';
  const measure = measureOf(params.get('measure'));
  const answer = useAnswer<History>(requestOf('v1/history', { weeks, gpu }), kHistoryRestSeconds);
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          <div class="filters filters-page" role="group" aria-label="What to show">
            <Select label="Weeks" name="weeks" value={String(weeks)} options={kWeekOptions} />
            <Select
              label="GPU"
              name="gpu"
              value={gpu}
              all="all types"
              options={(data?.gpus ?? []).map((one) => ({ value: one.gpu, label: one.gpu_name }))}
            />
            <Select
              label="Show"
              name="measure"
              value={measure.key}
              options={kMeasures.map((one) => ({ value: one.key, label: one.label }))}
            />
            {data ? <p class="note">{data.note}</p> : null}
          </div>
          {data?.since === null ? <Empty>No history yet. This view fills as jobs start and end.</Empty> : null}
          {data && data.since !== null ? <Charts data={data} measure={measure} params={params} /> : null}
          {data && data.since !== null ? (
            <UsagePanel weeks={weeks} offset={data.utc_offset_seconds} chosen={params.get('accounts')} />
          ) : null}
        </>
      )}
    </Answering>
  );
}

const kWeekOptions = [
  { value: '1', label: '1 week' },
  ...[4, 8, 13, 26, 57].map((weeks) => ({ value: String(weeks), label: `${weeks} weeks` })),
];

interface ChartsProps {
  data: History;
  measure: Measure;
  params: URLSearchParams;
}

function Charts({ data, measure, params }: ChartsProps) {
  const range = rangeOf(params, data.until);
  return (
    <>
      <Panel
        title={`${measure.label} by hour of the week`}
        id="heat"
        note={`${measure.explains} Hours are the cluster’s (${data.time_zone.slice(0, 40)}).`}
        actions={measure.key.endsWith('seconds') ? <WaitScale past /> : null}
      >
        <BestTime data={data} />
        <HeatMap rows={data.heat} measure={measure} />
        <HeatTable rows={data.heat} />
      </Panel>
      <Panel
        title={`${measure.label} by week`}
        id="by-week"
        note={soFar(Math.max(...data.by_week.map((row) => row.week_start)), data.until)}
      >
        <ByWeek data={data} measure={measure} range={range} strong={params.get('lines') ?? ''} />
      </Panel>
      <Panel title="Queue and use over time" id="over-time">
        <OverTime data={data} gpu={params.get('gpu') ?? ''} said={params.get('range') ?? ''} range={range} />
      </Panel>
    </>
  );
}
