// The jobs as a table whose last column is a time line that all rows share.
import type { QueueJob } from '../../api/contract';
import { SortHead, sorted, useSorting } from '../../parts/sort';
import type { SortValue } from '../../parts/sort';
import { CsvButton, Table } from '../../parts/table';
import { axisOf, placeOf, stepOf, ticksOf } from './axis';
import type { Axis } from './axis';
import { JobRow } from './job_row';

interface TimeLineProps {
  jobs: QueueJob[];
  now: number;
  span: string;
  open: string | null; // the job whose details are shown
  params: Record<string, string>;
}

// What a column is sorted by; the words of the file's heads are Slurm's.
const kSortedBy: Record<string, (job: QueueJob) => SortValue> = {
  Job: (job) => job.job_id,
  Of: (job) => job.user,
  GPUs: (job) => job.gpus,
  'Where': (job) => job.partition,
  State: (job) => job.reason_words || job.state,
  'Starts / ends': (job) => job.start_p50 ?? job.end_p50,
};

const kFile: [string, (job: QueueJob) => string | number | null | undefined][] = [
  ['JobID', (job) => job.job_id],
  ['Name', (job) => job.name],
  ['User', (job) => job.user],
  ['Account', (job) => job.account],
  ['Partition', (job) => job.partition],
  ['State', (job) => job.state],
  ['Reason', (job) => job.reason],
  ['GPU', (job) => job.gpu_name],
  ['GPUs', (job) => job.gpus],
  ['Tasks', (job) => job.array_task_count],
  ['Nodes', (job) => job.nodes],
  ['TimeLimit (s)', (job) => job.time_limit_seconds],
  ['Wait p50 (s)', (job) => job.wait_p50_seconds],
  ['Wait p90 (s)', (job) => job.wait_p90_seconds],
  ['Start p50 (unix)', (job) => job.start_p50 ?? job.start_time],
  ['End p50 (unix)', (job) => job.end_p50],
];

export function TimeLine({ jobs, now, span, open, params }: TimeLineProps) {
  const axis = axisOf(jobs, now, span);
  const named = jobs.some((job) => job.name !== null || job.user !== null);
  const [sorting, turn] = useSorting();
  const by = sorting.column === null ? undefined : kSortedBy[sorting.column];
  const shown = by ? sorted(jobs, sorting, by) : jobs;
  const heads = Object.keys(kSortedBy).filter((head) => named || head !== 'Of');
  return (
    <div class="time-line" style={gridOf(axis)}>
      <Table caption="Jobs, pending ones first, with the forecast of their start or end" class="jobs">
      <thead>
        <tr>
          {heads.map((head) => <SortHead key={head} column={head} sorting={sorting} turn={turn} />)}
          <th scope="col" class="axis-column">
            <span class="unseen">Time line</span>
            <Ticks axis={axis} />
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((job) => (
          <JobRow key={`${job.job_id}/${job.state}`} job={job} axis={axis} named={named} open={String(job.job_id) === open} params={params} />
        ))}
      </tbody>
    </Table>
      <CsvButton name="jobs" heads={kFile.map(([head]) => head)} rows={() => shown.map((job) => kFile.map(([, value]) => value(job)))} />
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
