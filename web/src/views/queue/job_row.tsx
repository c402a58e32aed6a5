// One job: in words, and as a bar on the shared time line.
import type { QueueJob } from '../../api/contract';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { duration, durationRange, length, limit } from '../../words/durations';
import { plural } from '../../words/numbers';
import { clockTime, fullTime } from '../../words/times';
import type { Axis } from './axis';
import { PendingBar, RunningBar } from './bars';

interface JobRowProps {
  job: QueueJob;
  axis: Axis;
  named: boolean;
  open: boolean;
  params: Record<string, string>; // of the view, for its address
}

export function JobRow({ job, axis, named, open, params }: JobRowProps) {
  const pending = job.state === 'PENDING';
  return (
    <tr class={`${pending ? 'pending' : 'running'} ${open ? 'chosen' : ''}`} data-job={job.job_id} data-state={job.state} data-start-p50={job.start_p50 ?? job.start_time ?? ''} data-wait-p50={job.wait_p50_seconds ?? ''} data-end-p50={job.end_p50 ?? ''}>
      <th scope="row">
        <a href={hashOf('queue', { ...params, job: open ? null : job.job_id })} aria-expanded={open} aria-label={pending ? `Why job ${job.job_id} waits, and what would start it sooner` : `Details of job ${job.job_id}`}>{job.job_id}</a>
        {job.array_task_count > 1 ? <span class="sub">{plural(job.array_task_count, 'task')}</span> : null}
      </th>
      {named ? (
        <td class="of">
          <Name of={job.name} />
          <span class="sub"><Name of={job.user} /></span>
        </td>
      ) : null}
      <td class="gpus">
        {job.gpu === '' ? <span class="quiet">no GPU</span> : <>{job.gpus} × <Name of={job.gpu_name} /></>}
        {job.nodes > 1 ? <span class="sub">{plural(job.nodes, 'node')}</span> : null}
      </td>
      <td class="where"><Name of={job.partition.replaceAll(',', ', ')} /><span class="sub">{job.time_limit_seconds === null ? 'no limit' : `limit ${limit(job.time_limit_seconds)}`}</span></td>
      {pending ? <PendingWords job={job} axis={axis} /> : <RunningWords job={job} axis={axis} />}
      <td class="axis-column">{pending ? <PendingBar job={job} axis={axis} /> : <RunningBar job={job} axis={axis} />}</td>
    </tr>
  );
}

function PendingWords({ job, axis }: { job: QueueJob; axis: Axis }) {
  const known = job.wait_p50_seconds !== null && job.wait_p50_seconds !== undefined;
  return (
    <>
      <td class="why">
        <span title={job.reason}><bdi>{job.reason_words || job.reason || 'pending'}</bdi></span>
        <span class="sub" title={job.clears}>
          {job.jobs_before ? `${plural(job.jobs_before, 'job')} before it` : ''}
          {job.jobs_before && job.clears ? ' · ' : ''}
          {job.clears ? <>clears <bdi>{job.clears}</bdi></> : null}
        </span>
      </td>
      <td class="when" title={known ? `median start ${fullTime(job.start_p50)}` : undefined}>
        {known ? durationRange(job.wait_p50_seconds, job.wait_p90_seconds) : 'not known'}
        <span class="sub">{known ? `${clockTime(job.start_p50, axis.now)} – ${clockTime(job.start_p90, axis.now)}` : 'while it is held back'}</span>
      </td>
    </>
  );
}

function RunningWords({ job, axis }: { job: QueueJob; axis: Axis }) {
  const since = job.start_time == null ? null : axis.now - job.start_time;
  const left = job.end_p50 == null ? null : Math.max(0, job.end_p50 - axis.now);
  const late = job.end_p90 == null ? null : Math.max(0, job.end_p90 - axis.now);
  return (
    <>
      <td class="why">
        <bdi>{job.state === 'RUNNING' ? 'running' : job.state.toLowerCase()}</bdi>
        <span class="sub">{since === null ? '' : `for ${length(since)}`}</span>
      </td>
      <td class="when" title={`limit ends ${fullTime(job.end_time)}`}>
        {left === null ? 'end not known' : left < 30 ? 'ends soon' : `ends in ${duration(left)}`}
        <span class="sub">{late === null ? '' : `p90 in ${length(late)}`}{job.end_time ? ` · limit ${clockTime(job.end_time, axis.now)}` : ''}</span>
      </td>
    </>
  );
}
