// Queue: pools, and the jobs on a time line: when those that wait start, when those that run end.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Queue } from '../../api/contract';
import { useAnswer } from '../../live/live';
import { Pager, SearchBox, Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { numberParam, requestOf } from '../../parts/route';
import { plural } from '../../words/numbers';
import { gpuOptions, partitionOptions } from '../pool_options';
import { kSpans } from './axis';
import { sortParam } from './columns';
import { JobDetails } from './job_details';
import { PoolTable } from './pool_table';
import { SweepTable } from './sweep_table';
import { TimeLine } from './time_line';

const kPage = 100;
const kWide = window.matchMedia('(min-width: 721px)').matches; // a phone shows the jobs first
const kMostPools = 4; // else they are folded

export function QueueView({ params }: { params: URLSearchParams }) {
  const offset = numberParam(params, 'offset', 0);
  const filter = {
    state: params.get('state'),
    partition: params.get('partition'),
    gpu: params.get('gpu'),
    user: params.get('user'),
    account: params.get('account'),
    qos: params.get('qos'),
    search: params.get('search'),
  };
  const asked = { ...filter, sort: sortParam(params.get('sort')) };
  const answer = useAnswer<Queue>(requestOf('v1/queue', { ...asked, offset: offset || null, limit: kPage }));
  const span = params.get('span') ?? '';
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          {data ? (
            <Panel title="Pools" id="pools">
              <details open={kWide && data.pools.length <= kMostPools}>
                <summary>Jobs and free GPUs by partition and type</summary>
                <PoolTable pools={data.pools} partition={filter.partition} gpu={filter.gpu} />
              </details>
            </Panel>
          ) : null}
          {data?.sweeps?.length ? (
            <Panel title="Sweeps" id="sweeps">
              <SweepTable sweeps={data.sweeps} now={data.meta.snapshot_taken_at ?? 0} />
            </Panel>
          ) : null}
          <Panel title="Jobs" id="jobs" actions={<Legend />}>
            <div class="filters" role="search" aria-label="Filter jobs">
              <Select label="State" name="state" value={filter.state ?? ''} all="all" options={kStates} />
              <Select
                label="Partition"
                name="partition"
                value={filter.partition ?? ''}
                all="all"
                options={partitionOptions(data?.pools ?? [])}
              />
              <Select label="GPU" name="gpu" value={filter.gpu ?? ''} all="all" options={gpuOptions(data?.pools ?? [])} />
              {kOwners.map(({ name, of, label }) => {
                const value = filter[name];
                const options = (data?.owners[of] ?? []).map((one) => ({ value: one, label: one }));
                return value || options.length > 1 ? (
                  <Select key={name} label={label} name={name} value={value ?? ''} all="all" options={options} />
                ) : null;
              })}
              <Select label="Time line" name="span" value={span} all="fits the rows" options={kSpans} />
              <SearchBox label="Search" value={filter.search ?? ''} hint="job id, name, user" />
              {data ? <Pager offset={offset} shown={data.jobs.length} total={data.total} size={kPage} noun="jobs" /> : null}
            </div>
            {data ? <Found data={data} file={requestOf('v1/queue', { ...asked, format: 'csv' })} params={params} /> : null}
          </Panel>
        </>
      )}
    </Answering>
  );
}

interface FoundProps {
  data: Queue;
  file: string; // the address of the filtered and sorted queue as CSV
  params: URLSearchParams;
}

function Found({ data, file, params }: FoundProps) {
  const list = useRef<HTMLDivElement>(null);
  const open = params.get('job');
  const { jobs } = data;
  useShownRow(list, open);
  return (
    <>
      <div class={open ? 'with-details' : ''}>
        <div ref={list} class="list">
          {jobs.length === 0 ? <Empty>No job matches this filter.</Empty> : null}
          {jobs.length > 0 ? (
            <TimeLine jobs={jobs} total={data.total} file={file} now={data.meta.snapshot_taken_at ?? 0} params={params} />
          ) : null}
        </div>
        {open ? <JobDetails id={open} list={list} /> : null}
      </div>
      {data.hidden > 0 ? (
        <p class="note">
          {plural(data.hidden, 'more job')} {data.hidden === 1 ? 'is' : 'are'} hidden: you are not signed in.
        </p>
      ) : null}
    </>
  );
}

/** Beside an open job the rows are of another height: its own stays in sight. */
function useShownRow(list: RefObject<HTMLElement>, open: string | null): void {
  useEffect(() => {
    const row = list.current?.querySelector('tr.chosen');
    const box = row?.getBoundingClientRect();
    if (row && box && (box.top < 0 || box.bottom > window.innerHeight)) row.scrollIntoView({ block: 'center' });
  }, [open]);
}

/** Links of a job's details and of other views lead to them, too. */
const kOwners = [
  { name: 'user', of: 'users', label: 'User' },
  { name: 'account', of: 'accounts', label: 'Account' },
  { name: 'qos', of: 'qos', label: 'QOS' },
] as const;

const kStates = [
  { value: 'pending', label: 'pending' },
  { value: 'running', label: 'running' },
];

function Legend() {
  return (
    <ul class="legend" aria-label="What the bars mean">
      <li>
        <i class="key key-start" aria-hidden="true" />
        may start (p10 – p90), mark: median
      </li>
      <li>
        <i class="key key-run" aria-hidden="true" />
        expected run
      </li>
      <li>
        <i class="key key-running" aria-hidden="true" />
        runs, to the median end, lighter to p90
      </li>
      <li>
        <i class="key key-limit" aria-hidden="true" />
        time limit
      </li>
      <li>
        <i class="key key-slurm" aria-hidden="true" />
        Slurm’s own estimate
      </li>
    </ul>
  );
}
