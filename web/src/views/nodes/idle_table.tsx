// Nodes whose allocated GPUs do nothing, by the site's Prometheus, and the jobs that hold them.
import type { ClusterNode, IdleAllocated, NodeJob } from '../../api/contract';
import { Name, Names } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { NodeButton, typesOf, usedOf } from './node_cells';

interface IdleTableProps {
  nodes: ClusterNode[];
  now: number;
  open: string | null;
}

const holdersOf = (node: ClusterNode): NodeJob[] => node.jobs.filter((job) => job.gpus > 0);

const jobWords = (job: NodeJob) => `${job.job_id}${job.user === null ? '' : ` ${job.user}`} (${plural(job.gpus, 'GPU')})`;

export function IdleTable({ nodes, now, open }: IdleTableProps) {
  return (
    <DataTable
      caption="Nodes with allocated GPUs that do nothing"
      class="stacked"
      sort="sort-idle"
      rows={nodes}
      keyOf={(node) => node.name}
      rowClass={(node) => (node.name === open ? 'chosen' : undefined)}
      columns={[
        { head: 'Node', cell: (node) => <NodeButton node={node} open={open} />, value: (node) => node.name },
        { head: 'GPU', cell: (node) => <Names of={typesOf(node)} />, value: (node) => typesOf(node).join(', ') },
        { head: 'Unused, at least', value: (node) => node.idle_allocated, words: grouped },
        { head: 'Allocated', value: usedOf, words: grouped },
        {
          head: 'Jobs on the node',
          cell: (node) => <Holders jobs={holdersOf(node)} now={now} />,
          value: (node) => holdersOf(node).map(jobWords).join(', '),
        },
      ]}
    />
  );
}

function Holders({ jobs, now }: { jobs: NodeJob[]; now: number }) {
  return (
    <ul>
      {jobs.map((job) => (
        <li key={job.job_id}>
          <a href={hashOf('queue', { job: job.job_id })}>{job.job_id}</a> {job.user === null ? null : <Name of={job.user} />}{' '}
          {plural(job.gpus, 'GPU')} for {length(now - (job.start_time ?? now))}
        </li>
      ))}
    </ul>
  );
}

/** "On the whole cluster at least 3 allocated GPUs …", or why that is not known. */
export const idleAllocatedWords = (idle: IdleAllocated): string =>
  idle.problem === null
    ? `On the whole cluster at least ${plural(idle.gpus, 'allocated GPU')} on ${plural(idle.nodes, 'node')} did nothing in the last 30 minutes`
    : `Unused GPUs are not known: ${idle.problem.slice(0, 300)}`;
