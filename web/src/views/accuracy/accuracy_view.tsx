// Accuracy: what was said of starts, against what came, beside Slurm's own estimate.
import { useAnswer } from '../../live/live';
import type { Accuracy } from '../../api/contract';
import { Answered, Empty, Panel } from '../../parts/panel';
import { rangeOf } from '../../parts/range';
import { fullTime, soFar } from '../../words/times';
import { ByGpuTable } from './by_gpu_table';
import { Calibration } from './calibration';
import { Coverage } from './coverage';
import { Figures } from './figures';
import { Scatter } from './scatter';
import { grouped } from '../../words/numbers';

const kRestSeconds = 60;
const kFewJobs = 30;

export function AccuracyView({ params }: { params: URLSearchParams }) {
  const answer = useAnswer<Accuracy>('v1/accuracy', kRestSeconds);
  return (
    <Answered of={answer}>
      {(data) => (
        <>
          <Panel title="Forecast accuracy" id="record">
            <Note data={data} />
            <Figures data={data} />
            <p class="note">
              {data.since === null
                ? 'No forecast job has started yet.'
                : `Of the last ${grouped(data.all.jobs)} forecast jobs that have started, since ${fullTime(data.since)}.`}
            </p>
          </Panel>
          <div class="two">
            <Panel
              title="Forecast and actual waits"
              id="scatter"
              note="Jobs with a forecast wait. On the line the forecast was exact; bars are the forecast range (p10 – p90)."
            >
              {data.points.length > 0 ? <Scatter points={data.points} /> : <Nothing />}
            </Panel>
            <Panel
              title="Calibration"
              id="calibration"
              note="How often jobs started by each quantile of their forecast. On the line the forecast was calibrated; bars are 95 % confidence ranges."
            >
              {data.calibration.some((row) => row.came !== null && row.jobs > 0) ? <Calibration rows={data.calibration} /> : <Nothing />}
            </Panel>
          </div>
          <Panel
            title="Coverage by week"
            id="weeks"
            note={`Share of waits below the forecast p50 and p90. The targets are 50 % and 90 %. ${soFar(data.weeks[data.weeks.length - 1]?.week_start ?? NaN, data.meta.snapshot_taken_at ?? 0) ?? ''}`}
          >
            {data.weeks.length > 0 ? <Weeks data={data} params={params} /> : <Nothing />}
          </Panel>
          <Panel title="By GPU type and size" id="by-gpu">
            {data.by_gpu.length > 0 ? <ByGpuTable rows={data.by_gpu} /> : <Nothing />}
          </Panel>
        </>
      )}
    </Answered>
  );
}

function Weeks({ data, params }: { data: Accuracy; params: URLSearchParams }) {
  const until = data.meta.snapshot_taken_at ?? 0;
  return <Coverage weeks={data.weeks} until={until} range={rangeOf(params, until)} />;
}

// The daemon's sentence; with little history a warning, said once.
function Note({ data }: { data: Accuracy }) {
  const few = data.all.jobs < kFewJobs;
  if (!few) return <p class="lead">{data.note}</p>;
  return (
    <p class="few">
      <span class="sentence">
        accuracy not known yet ({data.all.jobs} of {kFewJobs} jobs needed)
      </span>{' '}
      Read what is below as a first impression.
    </p>
  );
}

function Nothing() {
  return <Empty>No job with a forecast wait has started yet.</Empty>;
}
