// Queue: pools, and the jobs on a time line: when those that wait start, when those that run end.
import { useAnswer } from '../../live/live';
import type { QueueAnswer } from '../../api/types';
import { Pager, SearchBox, Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { numberParam, requestOf } from '../../parts/route';
import { gpuOptions, partitionOptions } from '../pool_options';
import { kSpans } from './axis';
import { PoolTable } from './pool_table';
import { TimeLine } from './time_line';
import { phrase, say, sayCount } from '../../words/say';
import { JobDetails } from './job_details';

const kPage = 100;

export function QueueView({ params }: { params: URLSearchParams }) {
  const offset = numberParam(params, 'offset', 0);
  const filter = {
    state: params.get('state'),
    partition: params.get('partition'),
    gpu: params.get('gpu'),
    search: params.get('search'),
  };
  const answer = useAnswer<QueueAnswer>(requestOf('v1/queue', { ...filter, offset: offset || null, limit: kPage }));
  const span = params.get('span') ?? '';
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          {data ? (
            <Panel title={say('queue.pools')} id="pools">
              <PoolTable pools={data.pools} partition={filter.partition} gpu={filter.gpu} />
            </Panel>
          ) : null}
          <Panel title={say('queue.jobs')} id="jobs" actions={<Legend />}>
            <div class="filters" role="search" aria-label={phrase('Filter jobs')}>
              <Select label={phrase('State')} name="state" value={filter.state ?? ''} all={phrase('all')} options={states()} />
              <Select label={phrase('Partition')} name="partition" value={filter.partition ?? ''} all={phrase('all')} options={partitionOptions(data?.pools ?? [])} />
              <Select label="GPU" name="gpu" value={filter.gpu ?? ''} all={phrase('all')} options={gpuOptions(data?.pools ?? [])} />
              <Select label={phrase('Time line')} name="span" value={span} all={phrase('fits the rows')} options={kSpans.map((one) => ({ ...one, label: phrase(one.label) }))} />
              <SearchBox label={phrase('Search')} value={filter.search ?? ''} hint={phrase('job id, name, user')} />
              {data ? <Pager offset={data.offset} shown={data.jobs.length} total={data.total} size={kPage} noun={phrase('jobs')} /> : null}
            </div>
            {data ? <Found data={data} span={span} params={params} /> : null}
            {!data && params.get('job') ? <JobDetails id={params.get('job') ?? ''} /> : null}
          </Panel>
        </>
      )}
    </Answering>
  );
}

function Found({ data, span, params }: { data: QueueAnswer; span: string; params: URLSearchParams }) {
  const open = params.get('job');
  return (
    <>
      <div class={open ? 'with-details' : ''}>
        {data.jobs.length === 0 ? <Empty>{say('queue.none')}</Empty> : <TimeLine jobs={data.jobs} now={data.meta.snapshot_taken_at ?? 0} span={span} open={open} params={Object.fromEntries(params)} />}
        {open ? <JobDetails id={open} /> : null}
      </div>
      {data.hidden > 0 ? <p class="note">{sayCount('count.hidden', data.hidden)}</p> : null}
    </>
  );
}

const states = () => [
  { value: 'pending', label: phrase('pending') },
  { value: 'running', label: phrase('running') },
];

function Legend() {
  return (
    <ul class="legend" aria-label={phrase('What the bars mean')}>
      <li><i class="key key-start" aria-hidden="true" />{phrase('may start (p10 – p90), mark: median')}</li>
      <li><i class="key key-run" aria-hidden="true" />{phrase('expected run')}</li>
      <li><i class="key key-running" aria-hidden="true" />{phrase('runs, to the median end, lighter to p90')}</li>
      <li><i class="key key-limit" aria-hidden="true" />{phrase('time limit')}</li>
      <li><i class="key key-slurm" aria-hidden="true" />{phrase('Slurm’s own estimate')}</li>
    </ul>
  );
}
