// One node: why it is as it is, its jobs and when they end, whom it is promised to.
import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { ClusterNode, NodeJob } from '../../api/contract';
import { Name, Names } from '../../parts/name';
import { setParams } from '../../parts/route';
import { Table } from '../../parts/table';
import { clockTime, fullTime } from '../../words/times';
import { grouped } from '../../words/numbers';
import { kConditionWords } from './condition';

interface NodeDetailsProps {
  name: string;
  node: ClusterNode | undefined;
  now: number;
}

export function NodeDetails({ name, node, now }: NodeDetailsProps) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus({ preventScroll: true }), [name]);
  return (
    <aside class="details" aria-label={`Node ${name.slice(0, 80)}`} tabIndex={-1} ref={place} onKeyDown={(event) => event.key === 'Escape' && close(name)} data-details={name}>
      <div class="details-head">
        <h3><Name of={name} wide /></h3>
        <button type="button" class="icon-button" onClick={() => close(name)} aria-label="Close the details">✕</button>
      </div>
      {node ? <Facts node={node} now={now} /> : <p class="quiet">This node is not among those shown; another page or filter has it.</p>}
    </aside>
  );
}

// The focus goes back to the tile.
function close(name: string) {
  setParams({ node: null });
  const tiles = document.querySelectorAll<HTMLElement>('[data-node]');
  for (const tile of tiles) if (tile.dataset.node === name) tile.querySelector('button')?.focus();
}

function Fact({ term, children }: { term: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

const gibOf = (mib: number) => grouped(mib / 1024);

function Facts({ node, now }: { node: ClusterNode; now: number }) {
  return (
    <>
      <dl class="facts">
        <Fact term="State">
          <span class={`state state-${node.condition}`}>{kConditionWords[node.condition] ?? node.condition}</span> <bdi class="quiet">{node.state}</bdi>
        </Fact>
        {node.reason ? <Fact term="Reason"><bdi class="long" data-reason>{node.reason.slice(0, 2000)}</bdi></Fact> : null}
        {node.gpus.map((gpus) => (
          <Fact key={gpus.gres_type} term="GPUs">
            {gpus.used} of {gpus.total} <Name of={gpus.gpu_name} /> in use, {gpus.free} free
          </Fact>
        ))}
        <Fact term="CPUs">{grouped(node.cpus_allocated)} of {grouped(node.cpus)} in use</Fact>
        <Fact term="Memory">{gibOf(node.memory_allocated_mib)} of {`${gibOf(node.memory_mib)} GiB`} in use</Fact>
        {node.next_end_p50 !== null ? <Fact term="Next free">{clockTime(node.next_end_p50, now)}, by the median</Fact> : null}
        {node.promised ? <Fact term="Next job (forecast)">job {node.promised.job_id}, from {clockTime(node.promised.start, now)}</Fact> : null}
        {node.reserved ? (
          <Fact term="Reserved">
            <Name of={node.reserved.name} />, {clockTime(node.reserved.start, now)} – {clockTime(node.reserved.end, now)}
          </Fact>
        ) : null}
        <Fact term="Partitions"><Names of={node.partitions} most={6} /></Fact>
        {node.features.length > 0 ? <Fact term="Features"><Names of={node.features} most={10} /></Fact> : null}
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
          <th scope="col" class="right">GPUs</th>
          <th scope="col">Ends, p50 – p90</th>
          <th scope="col">Limit</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.job_id} data-job={job.job_id}>
            <th scope="row">{job.job_id}</th>
            {named ? <td><Name of={job.name} /> <Name of={job.user} /></td> : null}
            <td class="right">{job.gpus}</td>
            <td title={fullTime(job.end_p50)}>{clockTime(job.end_p50, now)} <span class="to">– {clockTime(job.end_p90, now)}</span></td>
            <td>{job.end_limit === null ? 'none' : clockTime(job.end_limit, now)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
