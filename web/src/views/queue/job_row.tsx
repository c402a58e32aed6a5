// One job: in words, and as a bar on the shared time line.
import type { Axis } from '../../charts/time_axis';
import type { QueueJob } from '../../api/contract';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { duration, durationRange, length, limit } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockRange, clockTime } from '../../words/times';

import { PendingBar, RunningBar } from './bars';

interface JobRowProps {
  job: QueueJob;
  axis: Axis;
  named: boolean;
  params: URLSearchParams; // of the view, for its address
}

export function JobRow({ job, axis, named, params }: JobRowProps) {
  const pending = job.state === 'PENDING';
  const open = String(job.job_id) === params.get('job');
  return (
    <tr id={`job-${job.job_id}`} class={open ? 'chosen' : undefined}>
      <th scope="row">
        <a
          href={hashOf('queue', { ...Object.fromEntries(params), job: open ? null : job.job_id })}
          aria-expanded={open}
          aria-label={pending ? `Why job ${job.job_id} waits, and what would start it sooner` : `Details of job ${job.job_id}`}
        >
          {job.job_id}
        </a>
        {job.array_task_count > 1 ? <span class="sub">{plural(job.array_task_count, 'task')}</span> : null}
      </th>
      {named ? (
        <td class="of">
          <Name of={job.name} />
          <span class="sub">
            <Name of={job.user} />
          </span>
        </td>
      ) : null}
      <td class="gpus">
        {job.gpu === '' ? (
          <span class="quiet">no GPU</span>
        ) : (
          <>
            {grouped(job.gpus)} × <Name of={job.gpu_name} />
          </>
        )}
        {job.nodes > 1 ? <span class="sub">{plural(job.nodes, 'node')}</span> : null}
      </td>
      <td class="where">
        <Name of={job.partition.replaceAll(',', ', ')} />
        <span class="sub">{job.time_limit_seconds === null ? 'no limit' : `limit ${limit(job.time_limit_seconds)}`}</span>
      </td>
      {pending ? <PendingWords job={job} now={axis.now} /> : <RunningWords job={job} now={axis.now} />}
      <td class="axis-column">{pending ? <PendingBar job={job} axis={axis} /> : <RunningBar job={job} axis={axis} />}</td>
    </tr>
  );
}

function PendingWords({ job, now }: { job: QueueJob; now: number }) {
  const { wait_p50_seconds: p50, start_p50, start_p90 } = job;
  const known = p50 != null && start_p50 != null;
  return (
    <>
      <td class="why">
        <bdi>{job.reason_words || job.reason || 'pending'}</bdi>
        <span class="sub">
          {job.jobs_before ? `${plural(job.jobs_before, 'job')} before it` : ''}
          {job.jobs_before && job.clears ? ' · ' : ''}
          {job.clears ? (
            <>
              clears <bdi>{job.clears}</bdi>
            </>
          ) : null}
        </span>
      </td>
      <td class="when">
        {known ? <data value={p50}>{durationRange(p50, job.wait_p90_seconds)}</data> : 'not known'}
        <span class="sub">{known ? clockRange(start_p50, start_p90 ?? start_p50, now) : 'while it is held back'}</span>
      </td>
    </>
  );
}

function RunningWords({ job, now }: { job: QueueJob; now: number }) {
  const since = job.start_time == null ? null : now - job.start_time;
  const left = job.end_p50 == null ? null : Math.max(0, job.end_p50 - now);
  const late = job.end_p90 == null ? null : Math.max(0, job.end_p90 - now);
  return (
    <>
      <td class="why">
        <bdi>{job.state === 'RUNNING' ? 'running' : job.state.toLowerCase()}</bdi>
        <span class="sub">{since === null ? '' : `for ${length(since)}`}</span>
      </td>
      <td class="when">
        <data value={job.end_p50 ?? ''}>{left === null ? 'end not known' : left < 30 ? 'ends soon' : `ends in ${duration(left)}`}</data>
        <span class="sub">
          {late === null ? '' : `p90 in ${length(late)}`}
          {job.end_time ? ` · limit ${clockTime(job.end_time, now)}` : ''}
        </span>
      </td>
    </>
  );
}
