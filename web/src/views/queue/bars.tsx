// Bars of the time line. The words of the row say the same, so they are hidden from screen readers.
import type { ComponentChildren } from 'preact';
import type { QueueJob } from '../../api/contract';
import { clockTime } from '../../words/times';
import { placeOf } from './axis';
import type { Axis } from './axis';

function Line({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="line" aria-hidden="true" title={title}>
      {children}
    </div>
  );
}

const at = (axis: Axis, moment: number) => `${(placeOf(axis, moment) * 100).toFixed(2)}%`;

function Span({ axis, from, to, kind }: { axis: Axis; from: number; to: number; kind: string }) {
  const left = placeOf(axis, from);
  const width = Math.max(0, placeOf(axis, to) - left);
  return <i class={`span span-${kind}`} style={{ left: `${(left * 100).toFixed(2)}%`, width: `${(width * 100).toFixed(2)}%` }} />;
}

/** A mark on a moment; one beyond the right edge is an arrow there. */
function Mark({ axis, moment, kind }: { axis: Axis; moment: number; kind: string }) {
  if (moment < axis.from) return null;
  if (moment > axis.to) return kind === 'slurm' ? null : <i class="beyond">›</i>;
  return <i class={`line-mark line-mark-${kind}`} style={{ left: at(axis, moment) }} />;
}

export function PendingBar({ job, axis }: { job: QueueJob; axis: Axis }) {
  const slurm = job.slurm_start ? <Mark axis={axis} moment={job.slurm_start} kind="slurm" /> : null;
  const p50 = job.start_p50;
  if (p50 === null || p50 === undefined) return <Line title="no start is known">{slurm}</Line>;
  const p10 = job.start_p10 ?? p50;
  const p90 = job.start_p90 ?? p50;
  const title = `starts ${clockTime(p10, axis.now)} – ${clockTime(p90, axis.now)}, median ${clockTime(p50, axis.now)}` + (job.slurm_start ? `; Slurm says ${clockTime(job.slurm_start, axis.now)}` : '');
  return (
    <Line title={title}>
      <Span axis={axis} from={p50} to={p50 + (job.run_p50_seconds ?? 0)} kind="run" />
      <Span axis={axis} from={p10} to={p90} kind="start" />
      <Mark axis={axis} moment={p50} kind="median" />
      {slurm}
    </Line>
  );
}

export function RunningBar({ job, axis }: { job: QueueJob; axis: Axis }) {
  const p50 = job.end_p50 ?? job.end_time;
  if (p50 === null || p50 === undefined) return <Line title="no end is known"><Span axis={axis} from={axis.from} to={axis.to} kind="open" /></Line>;
  const p90 = Math.max(p50, job.end_p90 ?? p50);
  const title = `ends ${clockTime(p50, axis.now)} – ${clockTime(p90, axis.now)}` + (job.end_time ? `; limit ${clockTime(job.end_time, axis.now)}` : '');
  return (
    <Line title={title}>
      <Span axis={axis} from={job.start_time ?? axis.from} to={Math.max(p50, axis.now)} kind="running" />
      <Span axis={axis} from={Math.max(p50, axis.now)} to={p90} kind="late" />
      {job.end_time ? <Mark axis={axis} moment={job.end_time} kind="limit" /> : null}
    </Line>
  );
}
