// Queue: pools, and the jobs on a time line: when those that wait start, when those that run end.
import { useAnswer } from '../../live/live';
import type { Queue } from '../../api/contract';
import { Pager, SearchBox, Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { numberParam, requestOf } from '../../parts/route';
import { gpuOptions, partitionOptions } from '../pool_options';
import { kSpans } from './axis';
import { PoolTable } from './pool_table';
import { TimeLine } from './time_line';
import { JobDetails } from './job_details';
import { plural } from '../../words/numbers';

const kPage = 100;

export function QueueView({ params }: { params: URLSearchParams }) {
  const offset = numberParam(params, 'offset', 0);
  const filter = {
    state: params.get('state'),
    partition: params.get('partition'),
    gpu: params.get('gpu'),
    search: params.get('search'),
  };
  const answer = useAnswer<Queue>(requestOf('v1/queue', { ...filter, offset: offset || null, limit: kPage }));
  const span = params.get('span') ?? '';
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          {data ? (
            <Panel title="Pools" id="pools">
              <PoolTable pools={data.pools} partition={filter.partition} gpu={filter.gpu} />
            </Panel>
          ) : null}
          <Panel title="Jobs" id="jobs" actions={<Legend />}>
            <div class="filters" role="search" aria-label="Filter jobs">
              <Select label="State" name="state" value={filter.state ?? ''} all="all" options={kStates} />
              <Select label="Partition" name="partition" value={filter.partition ?? ''} all="all" options={partitionOptions(data?.pools ?? [])} />
              <Select label="GPU" name="gpu" value={filter.gpu ?? ''} all="all" options={gpuOptions(data?.pools ?? [])} />
              <Select label="Time line" name="span" value={span} all="fits the rows" options={kSpans} />
              <SearchBox label="Search" value={filter.search ?? ''} hint="job id, name, user" />
              {data ? <Pager offset={data.offset} shown={data.jobs.length} total={data.total} size={kPage} noun="jobs" /> : null}
            </div>
            {data ? <Found data={data} span={span} params={params} /> : null}
            {!data && params.get('job') ? <JobDetails id={params.get('job') ?? ''} /> : null}
          </Panel>
        </>
      )}
    </Answering>
  );
}

function Found({ data, span, params }: { data: Queue; span: string; params: URLSearchParams }) {
  const open = params.get('job');
  return (
    <>
      <div class={open ? 'with-details' : ''}>
        {data.jobs.length === 0 ? <Empty>No job matches this filter.</Empty> : <TimeLine jobs={data.jobs} now={data.meta.snapshot_taken_at ?? 0} span={span} open={open} params={Object.fromEntries(params)} />}
        {open ? <JobDetails id={open} /> : null}
      </div>
      {data.hidden > 0 ? <p class="note">{plural(data.hidden, 'more job')} {data.hidden === 1 ? 'is' : 'are'} hidden: you are not signed in.</p> : null}
    </>
  );
}

const kStates = [
  { value: 'pending', label: 'pending' },
  { value: 'running', label: 'running' },
];

function Legend() {
  return (
    <ul class="legend" aria-label="What the bars mean">
      <li><i class="key key-start" aria-hidden="true" />may start (p10 – p90), mark: median</li>
      <li><i class="key key-run" aria-hidden="true" />expected run</li>
      <li><i class="key key-running" aria-hidden="true" />runs, to the median end, lighter to p90</li>
      <li><i class="key key-limit" aria-hidden="true" />time limit</li>
      <li><i class="key key-slurm" aria-hidden="true" />Slurm’s own estimate</li>
    </ul>
  );
}
