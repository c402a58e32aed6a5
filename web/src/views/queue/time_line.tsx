// The jobs as a table whose last column is a time line that all rows share.
import type { QueueJob } from '../../api/contract';
import { getFile } from '../../api/fetch';
import { SortHead, SortSelect, useSorting } from '../../parts/sort';
import { CsvButton, Table } from '../../parts/table';
import { grouped } from '../../words/numbers';
import { gridOf, Ticks } from '../../charts/time_axis';
import { axisOf } from './axis';
import { kSortedBy } from './columns';
import { JobRow } from './job_row';

interface TimeLineProps {
  jobs: QueueJob[];
  total: number; // of all pages
  file: string; // the address of all of the jobs as CSV
  now: number;
  params: URLSearchParams;
}

const kMostInFile = 100_000; // of the daemon

export function TimeLine({ jobs, total, file, now, params }: TimeLineProps) {
  const axis = axisOf(jobs, now, params.get('span') ?? '');
  const named = jobs.some((job) => job.name !== null || job.user !== null);
  const [sorting, turn, set] = useSorting('sort');
  const heads = Object.keys(kSortedBy).filter((head) => named || head !== 'Of');
  return (
    <div class="time-line" style={gridOf(axis)}>
      <SortSelect columns={heads} sorting={sorting} set={set} />
      <Table caption="Jobs, pending ones first, with the forecast of their start or end" class="jobs">
        <thead>
          <tr>
            {heads.map((head) => (
              <SortHead key={head} column={head} sorting={sorting} turn={turn} />
            ))}
            <th scope="col" class="axis-column">
              <span class="unseen">Time line</span>
              <Ticks axis={axis} />
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <JobRow key={job.job_id} job={job} axis={axis} named={named} params={params} />
          ))}
        </tbody>
      </Table>
      <CsvButton name="jobs" text={() => getFile(file)} />
      {total > kMostInFile ? <span class="quiet"> the first {grouped(kMostInFile)} jobs</span> : null}
    </div>
  );
}
