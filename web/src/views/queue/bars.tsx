// Bars of the time line: when a job that waits may start and runs, when one that runs ends.
import { Line, Mark, Span } from '../../charts/time_axis';
import type { Axis } from '../../charts/time_axis';
import type { QueueJob } from '../../api/contract';

export function PendingBar({ job, axis }: { job: QueueJob; axis: Axis }) {
  const slurm = job.slurm_start ? <Mark axis={axis} moment={job.slurm_start} kind="slurm" /> : null;
  const p50 = job.start_p50;
  if (p50 === null || p50 === undefined) return <Line>{slurm}</Line>;
  const p10 = job.start_p10 ?? p50;
  const p90 = job.start_p90 ?? p50;
  return (
    <Line>
      <Span axis={axis} from={p50} to={p50 + (job.run_p50_seconds ?? 0)} kind="run" />
      <Span axis={axis} from={p10} to={p90} kind="start" />
      <Mark axis={axis} moment={p50} kind="median" />
      {slurm}
    </Line>
  );
}

export function RunningBar({ job, axis }: { job: QueueJob; axis: Axis }) {
  const p50 = job.end_p50 ?? job.end_time;
  if (p50 === null || p50 === undefined)
    return (
      <Line>
        <Span axis={axis} from={axis.from} to={axis.to} kind="open" />
      </Line>
    );
  const p90 = Math.max(p50, job.end_p90 ?? p50);
  return (
    <Line>
      <Span axis={axis} from={job.start_time ?? axis.from} to={Math.max(p50, axis.now)} kind="running" />
      <Span axis={axis} from={Math.max(p50, axis.now)} to={p90} kind="late" />
      {job.end_time ? <Mark axis={axis} moment={job.end_time} kind="limit" /> : null}
    </Line>
  );
}
