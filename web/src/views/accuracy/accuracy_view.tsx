// Accuracy: what was said of starts, against what came, beside Slurm's own estimate.
import { useAnswer } from '../../live/live';
import type { AccuracyAnswer } from '../../api/types';
import { Answered, Empty, Panel } from '../../parts/panel';
import { fullTime, soFar } from '../../words/times';
import { ByGpuTable } from './by_gpu_table';
import { Calibration } from './calibration';
import { Coverage } from './coverage';
import { Figures } from './figures';
import { Scatter } from './scatter';
import { grouped } from '../../words/numbers';
import { phrase, say } from '../../words/say';

const kRestSeconds = 60;
const kFewJobs = 30;

export function AccuracyView() {
  const answer = useAnswer<AccuracyAnswer>('v1/accuracy', kRestSeconds);
  return (
    <Answered of={answer}>
      {(data) => (
        <>
          <Panel title={say('accuracy.record')} id="record">
            <Note data={data} />
            <Figures data={data} />
            <p class="note">{data.since === null ? say('accuracy.recordNone') : say('accuracy.recordOf', { jobs: grouped(data.all.jobs), since: fullTime(data.since) })}</p>
          </Panel>
          <div class="two">
            <Panel title={say('accuracy.scatter')} id="scatter" note={say('accuracy.scatterNote')}>
              {data.points.length > 0 ? <Scatter points={data.points} /> : <Nothing />}
            </Panel>
            <Panel title={say('accuracy.calibration')} id="calibration" note={say('accuracy.calibrationNote')}>
              {data.calibration.some((row) => row.came !== null && row.jobs > 0) ? <Calibration rows={data.calibration} /> : <Nothing />}
            </Panel>
          </div>
          <Panel title={say('accuracy.weeks')} id="weeks" note={`${say('accuracy.weeksNote')} ${soFar(data.weeks[data.weeks.length - 1]?.week_start ?? NaN, 0, data.meta.snapshot_taken_at ?? 0) ?? ''}`}>
            {data.weeks.length > 0 ? <Coverage weeks={data.weeks} until={data.meta.snapshot_taken_at ?? 0} /> : <Nothing />}
          </Panel>
          <Panel title={phrase('By GPU type and size')} id="by-gpu">
            {data.by_gpu.length > 0 ? <ByGpuTable rows={data.by_gpu} /> : <Nothing />}
          </Panel>
        </>
      )}
    </Answered>
  );
}

// The daemon's sentence; with little history a warning, said once.
function Note({ data }: { data: AccuracyAnswer }) {
  const few = data.all.jobs < kFewJobs;
  if (!few) return <p class="lead" data-note>{data.note}</p>;
  return (
    <p class="few" data-few>
      <span class="sentence" data-note>{phrase('accuracy not known yet ({n} of {needed} jobs needed)', { n: data.all.jobs, needed: kFewJobs })}</span> {phrase('Read what is below as a first impression.')}
    </p>
  );
}

function Nothing() {
  return <Empty>{say('accuracy.noneWaited')}</Empty>;
}
