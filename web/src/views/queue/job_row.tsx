// One job: in words, and as a bar on the shared time line.
import type { QueueRow } from '../../api/types';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { duration, durationRange, length, limit } from '../../words/durations';
import { plural } from '../../words/numbers';
import { phrase, say, sayCount, sayNodes } from '../../words/say';
import { clockTime, fullTime } from '../../words/times';
import type { Axis } from './axis';
import { PendingBar, RunningBar } from './bars';

interface JobRowProps {
  job: QueueRow;
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
        <a href={hashOf('queue', { ...params, job: open ? null : job.job_id })} aria-expanded={open} aria-label={say(pending ? 'queue.openJob' : 'queue.openRunning', { id: job.job_id })}>{job.job_id}</a>
        {job.array_task_count > 1 ? <span class="sub">{sayCount('count.task', job.array_task_count)}</span> : null}
      </th>
      {named ? (
        <td class="of">
          <Name of={job.name} />
          <span class="sub"><Name of={job.user} /></span>
        </td>
      ) : null}
      <td class="gpus">
        {job.gpu === '' ? <span class="quiet">{phrase('no GPU')}</span> : <>{job.gpus} × <Name of={job.gpu_name} /></>}
        {job.nodes > 1 ? <span class="sub">{plural(job.nodes, 'node')}</span> : null}
      </td>
      <td class="where"><Name of={job.partition.replaceAll(',', ', ')} /><span class="sub">{job.time_limit_seconds === null ? phrase('no limit') : phrase('limit {time}', { time: limit(job.time_limit_seconds) })}</span></td>
      {pending ? <PendingWords job={job} axis={axis} /> : <RunningWords job={job} axis={axis} />}
      <td class="axis-column">{pending ? <PendingBar job={job} axis={axis} /> : <RunningBar job={job} axis={axis} />}</td>
    </tr>
  );
}

function PendingWords({ job, axis }: { job: QueueRow; axis: Axis }) {
  const known = job.wait_p50_seconds !== null && job.wait_p50_seconds !== undefined;
  return (
    <>
      <td class="why">
        <span title={job.reason}><bdi>{job.reason_words || job.reason || phrase('pending')}</bdi></span>
        <span class="sub" title={job.clears}>
          {job.jobs_before ? sayCount('count.before', job.jobs_before) : ''}
          {job.jobs_before && job.clears ? ' · ' : ''}
          {job.clears ? sayNodes('queue.clears', { when: <bdi>{job.clears}</bdi> }) : null}
        </span>
      </td>
      <td class="when" title={known ? phrase('median start {time}', { time: fullTime(job.start_p50) }) : undefined}>
        {known ? durationRange(job.wait_p50_seconds, job.wait_p90_seconds) : phrase('not known')}
        <span class="sub">{known ? `${clockTime(job.start_p50, axis.now)} – ${clockTime(job.start_p90, axis.now)}` : phrase('while it is held back')}</span>
      </td>
    </>
  );
}

function RunningWords({ job, axis }: { job: QueueRow; axis: Axis }) {
  const since = job.start_time == null ? null : axis.now - job.start_time;
  const left = job.end_p50 == null ? null : Math.max(0, job.end_p50 - axis.now);
  const late = job.end_p90 == null ? null : Math.max(0, job.end_p90 - axis.now);
  return (
    <>
      <td class="why">
        <bdi>{job.state === 'RUNNING' ? phrase('running') : job.state.toLowerCase()}</bdi>
        <span class="sub">{since === null ? '' : phrase('for {time}', { time: length(since) })}</span>
      </td>
      <td class="when" title={phrase('limit ends {time}', { time: fullTime(job.end_time) })}>
        {left === null ? phrase('end not known') : left < 30 ? phrase('ends soon') : phrase('ends in {time}', { time: duration(left) })}
        <span class="sub">{late === null ? '' : phrase('p90 in {time}', { time: length(late) })}{job.end_time ? ` · ${phrase('limit {time}', { time: clockTime(job.end_time, axis.now) })}` : ''}</span>
      </td>
    </>
  );
}
