// One node: why it is as it is, its jobs and when they end, whom it is kept for.
import type { RefObject } from 'preact';
import type { ClusterNode, NodeJob, Nodes, Timeline } from '../../api/contract';
import { useAnswer } from '../../live/live';
import { Details, Fact } from '../../parts/details';
import { Name, Names } from '../../parts/name';
import { Answering } from '../../parts/panel';
import { hoursFor, rangeOf } from '../../parts/range';
import { hashOf, requestOf, useRoute } from '../../parts/route';
import { Table } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockTime, fullTime } from '../../words/times';
import { idleWords, isBroken, kConditionWords } from './condition';
import { Gantt } from './gantt';
import { useShort } from '../short_types';

interface NodeDetailsProps {
  name: string;
  node: ClusterNode | undefined;
  now: number;
  list: RefObject<HTMLElement>;
}

export function NodeDetails({ name, node, now, list }: NodeDetailsProps) {
  // A node of another page or filter is asked for by its name.
  const other = useAnswer<Nodes>(node ? null : requestOf('v1/nodes', { node: name }));
  const found = node ?? other.data?.nodes.find((one) => one.name === name);
  return (
    <Details title={<Name of={name} wide />} label={`Node ${name}`} param="node" list={list}>
      {found ? (
        <>
          <Facts node={found} now={now} />
          {found.gpus.length > 0 ? <InTime name={name} now={now} /> : null}
        </>
      ) : (
        <Answering of={other}>{(data) => (data ? <p class="quiet">There is no such node.</p> : null)}</Answering>
      )}
    </Details>
  );
}

function InTime({ name, now }: { name: string; now: number }) {
  const hours = hoursFor(rangeOf(useRoute().params, now), now);
  const { data } = useAnswer<Timeline>(requestOf('v1/timeline', { node: name, hours, limit: 1 }));
  return (
    <>
      <h4>{plural(hours, 'hour')} before and after now</h4>
      {data && data.nodes.length > 0 ? <Gantt data={data} /> : null}
    </>
  );
}

const gibOf = (mib: number) => grouped(mib / 1024);

function Facts({ node, now }: { node: ClusterNode; now: number }) {
  const short = useShort().types;
  return (
    <>
      <dl class="facts">
        <Fact term="State">
          <span class={`state state-${node.condition}`}>{kConditionWords[node.condition]}</span> <bdi class="quiet">{node.state}</bdi>
        </Fact>
        {node.reason ? (
          <Fact term="Reason">
            <bdi class="long">{node.reason.slice(0, 2000)}</bdi>
            {node.reason_user ? (
              <>
                , by <Name of={node.reason_user} />
              </>
            ) : null}
          </Fact>
        ) : null}
        {node.since !== null && isBroken(node) ? (
          <Fact term="Since">
            {fullTime(node.since)}, {length(now - node.since)} ago
          </Fact>
        ) : null}
        {node.gpus.map((gpus) => (
          <Fact key={gpus.gres_type} term="GPUs">
            {gpus.used} of {gpus.total} <Name of={gpus.gpu_name} /> in use, {idleWords(node, [gpus], short)}
          </Fact>
        ))}
        {node.idle_allocated > 0 ? (
          <Fact term="Allocated, but unused">{`at least ${plural(node.idle_allocated, 'GPU')}, for 30 minutes`}</Fact>
        ) : null}
        <Fact term="CPUs">
          {grouped(node.cpus_allocated)} of {grouped(node.cpus)} in use
        </Fact>
        <Fact term="Memory">
          {gibOf(node.memory_allocated_mib)} of {`${gibOf(node.memory_mib)} GiB`} in use
        </Fact>
        {node.next_end_p50 !== null ? <Fact term="Next job ends">{clockTime(node.next_end_p50, now)}, by its median</Fact> : null}
        {node.promised ? (
          <Fact term="GPUs are kept for">
            {node.promised.job_id === null ? (
              'a job'
            ) : (
              <a href={hashOf('queue', { job: node.promised.job_id })}>job {node.promised.job_id}</a>
            )}
            , which starts {clockTime(node.promised.start, now)}, by its median
          </Fact>
        ) : null}
        {node.reserved ? (
          <Fact term="Reserved">
            <Name of={node.reserved.name} />, {clockTime(node.reserved.start, now)} – {clockTime(node.reserved.end, now)}
          </Fact>
        ) : null}
        <Fact term="Partitions">
          <Names of={node.partitions} />
        </Fact>
        {node.features.length > 0 ? (
          <Fact term="Features">
            <Names of={node.features} />
          </Fact>
        ) : null}
      </dl>
      {node.jobs.length > 0 ? <Jobs jobs={node.jobs} now={now} /> : <p class="quiet">No job runs here.</p>}
      {node.jobs_total > node.jobs.length ? <p class="quiet">and {node.jobs_total - node.jobs.length} more</p> : null}
    </>
  );
}

function Jobs({ jobs, now }: { jobs: NodeJob[]; now: number }) {
  const named = jobs.some((job) => job.name !== null || job.user !== null);
  return (
    <Table caption="Jobs on this node and when they end" hideCaption={false} class="small">
      <thead>
        <tr>
          <th scope="col">Job</th>
          {named ? <th scope="col">Of</th> : null}
          <th scope="col" class="right">
            GPUs
          </th>
          <th scope="col">Ends, p50 – p90</th>
          <th scope="col">Limit</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.job_id}>
            <th scope="row">
              <a href={hashOf('queue', { job: job.job_id })}>{job.job_id}</a>
            </th>
            {named ? (
              <td>
                <Name of={job.name} /> <Name of={job.user} />
              </td>
            ) : null}
            <td class="right">{job.gpus}</td>
            <td>
              {clockTime(job.end_p50, now)} <span class="to">– {clockTime(job.end_p90, now)}</span>
            </td>
            <td>{job.end_limit === null ? 'none' : clockTime(job.end_limit, now)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
