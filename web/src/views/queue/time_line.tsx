// The jobs as a table whose last column is a time line that all rows share.
import type { QueueRow } from '../../api/types';
import { Table } from '../../parts/table';
import { axisOf, placeOf, stepOf, ticksOf } from './axis';
import type { Axis } from './axis';
import { JobRow } from './job_row';

interface TimeLineProps {
  jobs: QueueRow[];
  now: number;
  span: string;
}

export function TimeLine({ jobs, now, span }: TimeLineProps) {
  const axis = axisOf(jobs, now, span);
  const named = jobs.some((job) => job.name !== null || job.user !== null);
  return (
    <div class="time-line" style={gridOf(axis)}>
      <Table caption="Jobs, pending ones first, with the forecast of their start or end" class="jobs">
      <thead>
        <tr>
          <th scope="col">Job</th>
          {named ? <th scope="col">Of</th> : null}
          <th scope="col">GPUs</th>
          <th scope="col">Where</th>
          <th scope="col">State</th>
          <th scope="col">Starts / ends</th>
          <th scope="col" class="axis-column">
            <span class="unseen">Time line</span>
            <Ticks axis={axis} />
          </th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <JobRow key={`${job.job_id}/${job.state}`} job={job} axis={axis} named={named} />
        ))}
      </tbody>
    </Table>
    </div>
  );
}

// Where the lines for "now" and the ticks are, for all rows at once.
function gridOf(axis: Axis) {
  const now = placeOf(axis, axis.now);
  const step = (1 - now) * (stepOf(axis) / (axis.to - axis.now));
  return { '--now': `${(now * 100).toFixed(3)}%`, '--step': `${((100 * step) / (1 - now)).toFixed(3)}%` };
}

function Ticks({ axis }: { axis: Axis }) {
  return (
    <div class="ticks" aria-hidden="true">
      {ticksOf(axis).map((tick) => (
        <span key={tick.words} style={{ left: `${tick.at * 100}%` }}>{tick.words}</span>
      ))}
    </div>
  );
}
