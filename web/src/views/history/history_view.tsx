// History: waits, use and queue by hour of the week, by week, and over time.
import { useAnswer } from '../../live/live';
import type { HistoryAnswer } from '../../api/types';
import { Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { numberParam, requestOf } from '../../parts/route';
import { phrase, say } from '../../words/say';
import { browserZone, soFar } from '../../words/times';
import { BestTime } from './best_time';
import { HeatMap } from './heat_map';
import { kMeasures, measureOf } from './measure';
import { WaitScale } from '../now/wait_cell';
import { OverTime } from './over_time';
import { ByWeek } from './by_week';
import { UsagePanel } from './usage_panel';

const kWeeks = 8;
export const kHistoryRestSeconds = 300; // weeks do not change with every snapshot

export function HistoryView({ params }: { params: URLSearchParams }) {
  const weeks = Math.min(57, Math.max(1, numberParam(params, 'weeks', kWeeks)));
  const gpu = params.get('gpu') ?? '';
  const measure = measureOf(params.get('measure'));
  const answer = useAnswer<HistoryAnswer>(requestOf('v1/history', { weeks, gpu }), kHistoryRestSeconds);
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          <div class="filters filters-page" role="group" aria-label={phrase('What to show')}>
            <Select label={phrase('Weeks')} name="weeks" value={String(weeks)} options={weekOptions()} />
            <Select label="GPU" name="gpu" value={gpu} all={phrase('all types')} options={(data?.gpus ?? []).map((one) => ({ value: one.gpu, label: one.gpu_name }))} />
            <Select label={phrase('Show')} name="measure" value={measure.key} options={kMeasures.map((one) => ({ value: one.key, label: phrase(one.label) }))} />
            {data ? <p class="note" data-note>{data.note}</p> : null}
          </div>
          {data?.since === null ? <Empty>{say('history.none')}</Empty> : null}
          {data && data.since !== null ? <Charts data={data} measure={measure} /> : null}
          {data && data.since !== null ? <UsagePanel weeks={weeks} offset={data.utc_offset_seconds} /> : null}
        </>
      )}
    </Answering>
  );
}

const weekOptions = () => [
  { value: '1', label: phrase('1 week') },
  ...[4, 8, 13, 26, 57].map((weeks) => ({ value: String(weeks), label: phrase('{n} weeks', { n: weeks }) })),
];

function Charts({ data, measure }: { data: HistoryAnswer; measure: ReturnType<typeof measureOf> }) {
  return (
    <>
      <Panel title={phrase('{measure} by hour of the week', { measure: phrase(measure.label) })} id="heat" note={`${phrase(measure.explains)} ${zoneWords(data)}`} actions={measure.key.endsWith('seconds') ? <WaitScale /> : null}>
        <BestTime data={data} />
        <HeatMap rows={data.heat} measure={measure} />
      </Panel>
      <Panel title={phrase('{measure} by week', { measure: phrase(measure.label) })} id="by-week" note={soFar(Math.max(...data.by_week.map((row) => row.week_start)), data.utc_offset_seconds, data.until)}>
        <ByWeek data={data} measure={measure} />
      </Panel>
      <Panel title={phrase('Queue and use over time')} id="over-time">
        <OverTime data={data} />
      </Panel>
    </>
  );
}

function zoneWords(data: HistoryAnswer): string {
  const own = -new Date(data.until * 1000).getTimezoneOffset() * 60;
  const zone = phrase('Hours are the cluster’s ({zone}).', { zone: data.time_zone.slice(0, 40) });
  return own === data.utc_offset_seconds ? zone : `${zone} ${phrase('Times in other views are your browser’s ({zone}).', { zone: browserZone() })}`;
}
