// Nodes in time: a row for each, a lane for each GPU, and on them the jobs that have ended, that run, and that are forecast. The
// picture is for the eye; the table below it says the same.
import type { Timeline, TimelineNode } from '../../api/contract';
import { gridOf, placeOf, Ticks } from '../../charts/time_axis';
import type { Axis } from '../../charts/time_axis';
import { Name } from '../../parts/name';
import { Empty } from '../../parts/panel';
import { hashOf } from '../../parts/route';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockTime, fullTime } from '../../words/times';
import { barsOf } from './gantt_lanes';

const kLane = 7; // pixels of a GPU
const kHighest = 112; // of a node; more GPUs have thinner lanes

export function Gantt({ data }: { data: Timeline }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  const axis: Axis = { from: data.start, to: data.until, now };
  if (data.nodes.length === 0) return <Empty>No node with GPUs matches this filter.</Empty>;
  return (
    <>
      <div class="gantt" style={gridOf(axis)} aria-hidden="true">
        <div class="gantt-head">
          <Ticks axis={axis} />
        </div>
        {data.nodes.map((node) => (
          <NodeRow key={node.name} node={node} axis={axis} />
        ))}
      </div>
      <p class="note">
        A line for each GPU. Which GPU of a node a job has is not known. {pastWords(data, now)} Ends and forecast starts are the median of
        each job by itself, so bars of one GPU may overlap. Nodes are those of one simulated future; most jobs that wait have no node yet.
      </p>
      <details class="gantt-table">
        <summary>As a table</summary>
        <JobsTable data={data} now={now} />
      </details>
    </>
  );
}

function pastWords(data: Timeline, now: number): string {
  if (data.known_since === null) return 'Jobs that have ended are not known.';
  return data.known_since <= data.start ? '' : `Jobs that ended before ${clockTime(data.known_since, now)} are not known.`;
}

function NodeRow({ node, axis }: { node: TimelineNode; axis: Axis }) {
  const height = Math.min(kLane, kHighest / node.total);
  return (
    <div class="gantt-row">
      <span class="gantt-name">
        <Name of={node.name} wide />
      </span>
      <div class="gantt-lanes line" style={{ height: `${node.total * height}px` }}>
        {barsOf(node.jobs, node.total).map(({ job, lane, lanes }) => {
          const until = job.end ?? axis.to;
          const left = placeOf(axis, job.start);
          const bar = {
            class: `gantt-bar gantt-${job.kind}`,
            title: `job ${job.job_id}, ${plural(job.gpus, 'GPU')}`,
            style: {
              top: `${lane * height}px`,
              height: `${lanes * height - 1}px`,
              left: `${100 * left}%`,
              width: `${100 * Math.max(0.001, placeOf(axis, until) - left)}%`,
            },
          };
          const key = `${job.kind} ${job.job_id} ${job.start}`;
          // The table has the links for the keyboard.
          if (job.kind === 'ended') return <span key={key} {...bar} />;
          return (
            <a key={key} href={hashOf('queue', { job: job.job_id })} tabIndex={-1} {...bar}>
              <span class="unseen">job {job.job_id}</span>
            </a>
          );
        })}
      </div>
    </div>
  );
}

export function GanttLegend() {
  return (
    <ul class="legend" aria-label="What the bars mean">
      {Object.entries(kKinds).map(([kind, words]) => (
        <li key={kind}>
          <i class={`key gantt-${kind}`} aria-hidden="true" />
          {words}
        </li>
      ))}
    </ul>
  );
}

const kKinds = { ended: 'ended', running: 'runs', forecast: 'forecast' };

function JobsTable({ data, now }: { data: Timeline; now: number }) {
  const rows = data.nodes.flatMap((node) => node.jobs.map((job) => ({ node, job })));
  const named = rows.some(({ job }) => job.name !== null || job.user !== null);
  const more = data.nodes.reduce((sum, node) => sum + node.jobs_total - node.jobs.length, 0);
  return (
    <>
      <DataTable
        caption="Jobs on nodes in time"
        class="stacked"
        rows={rows}
        keyOf={({ node, job }) => `${node.name} ${job.kind} ${job.job_id} ${job.start}`}
        columns={[
          {
            head: 'Node',
            value: ({ node }) => node.name,
            cell: ({ node }) => <Name of={node.name} wide />,
          },
          {
            head: 'Job',
            value: ({ job }) => job.job_id,
            cell: ({ job }) => (job.kind === 'ended' ? job.job_id : <a href={hashOf('queue', { job: job.job_id })}>{job.job_id}</a>),
          },
          ...(named
            ? [
                {
                  head: 'Of',
                  value: ({ job }: Row) => job.user,
                  cell: ({ job }: Row) => (
                    <>
                      <Name of={job.name} /> <Name of={job.user} />
                    </>
                  ),
                },
              ]
            : []),
          { head: 'GPUs', value: ({ job }) => job.gpus, words: grouped },
          { head: 'State', value: ({ job }) => kKinds[job.kind] },
          {
            head: 'From',
            value: ({ job }) => fullTime(job.start),
            order: ({ job }) => job.start,
            cell: ({ job }) => clockTime(job.start, now),
          },
          { head: 'To', value: ({ job }) => fullTime(job.end), order: ({ job }) => job.end, cell: ({ job }) => clockTime(job.end, now) },
          { head: 'For', value: ({ job }) => (job.end === null ? null : job.end - job.start), words: length },
        ]}
      />
      {more > 0 ? <p class="quiet">and {plural(more, 'more job')}</p> : null}
    </>
  );
}

interface Row {
  node: TimelineNode;
  job: TimelineNode['jobs'][number];
}
