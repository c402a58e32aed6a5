// Nodes: what each partition has, what is broken, and a map of nodes with one cell for each GPU.
import { useRef } from 'preact/hooks';
import { useAnswer, useLive } from '../../live/live';
import type { ClusterMap, IdleAllocated, Nodes, Timeline } from '../../api/contract';
import type { Loaded } from '../../api/loader';
import { allNodes } from '../../api/pages';
import { Pager, SearchBox, Select } from '../../parts/filters';
import { Answering, AsOf, Empty, Panel, Warnings } from '../../parts/panel';
import { hoursFor, rangeOf } from '../../parts/range';
import { hashOf, numberParam, requestOf } from '../../parts/route';
import type { Params } from '../../parts/route';
import { grouped, plural } from '../../words/numbers';
import { ClusterMapView, kMapPath, kMapRestSeconds } from './cluster_map';
import type { GroupedBy, MapNode } from './map_groups';
import { BrokenTable, brokenWords } from './broken_table';
import { IdleTable, idleAllocatedWords } from './idle_table';
import { Gantt, GanttLegend } from './gantt';
import { GroupTable } from './group_table';
import { SchedulerPanel } from './scheduler_panel';
import { kConditions, kConditionWords } from './condition';
import { NodeDetails } from './node_details';
import { NodeMap } from './node_map';
import { ShortContext, useShortTypes } from '../short_types';
import { gpuOptions, partitionOptions } from '../pool_options';

const kPage = 200;
const kGanttPage = 40;
// Conditions of the address that are tables: drained or down, and with allocated GPUs that do nothing.
const kBroken = 'broken';
const kIdle = 'idle_allocated';
const kTitles = new Map([
  [kBroken, 'Broken nodes'],
  [kIdle, 'Allocated, but unused GPUs'],
]);
const kMostListed = 2000;

const kPictures = [
  { value: 'cluster', label: 'the whole cluster' },
  { value: 'time', label: 'jobs in time' },
];
const kGroupings: { value: GroupedBy; label: string }[] = [
  { value: 'partition', label: 'partition' },
  { value: 'rack', label: 'rack, by name' },
];

const listedNodes = (path: string, signal: AbortSignal) => allNodes(path, kMostListed, signal);

export function NodesView({ params }: { params: URLSearchParams }) {
  const offset = numberParam(params, 'offset', 0);
  const filter = {
    partition: params.get('partition'),
    gpu: params.get('gpu'),
    condition: params.get('condition'),
    search: params.get('search'),
  };
  const title = kTitles.get(filter.condition ?? '');
  const listed = title !== undefined;
  const picture = listed ? null : kPictures.find((one) => one.value === params.get('map'))?.value;
  const whole = picture === 'cluster';
  const rows = picture ? { limit: 0 } : { offset: offset || null, limit: kPage };
  const page = useAnswer<Nodes>(listed ? null : requestOf('v1/nodes', { ...filter, ...rows }));
  const all = useAnswer<Nodes>(listed ? requestOf('v1/nodes', filter) : null, 0, undefined, listedNodes);
  const map = useAnswer<ClusterMap>(whole ? kMapPath : null, kMapRestSeconds);
  const [short, known] = useShortTypes(); // what is kept is told from the first drawing on
  const answer = known ? (listed ? all : page) : { ...page, data: null, loading: true };
  const open = params.get('node');
  const now = useLive().snapshot?.snapshot_taken_at ?? 0;
  const hours = hoursFor(rangeOf(params, now), now);
  return (
    <ShortContext.Provider value={short}>
      <Answering of={answer}>
        {(data) => (
          <>
            {data ? (
              <Panel title="By partition" id="groups">
                <GroupTable groups={data.groups} partition={filter.partition} gpu={filter.gpu} />
              </Panel>
            ) : null}
            <Panel
              title={listed ? title : picture === 'time' ? 'Jobs in time' : 'Map'}
              id="map"
              actions={listed ? undefined : picture === 'time' ? <GanttLegend /> : <Legend />}
            >
              {data && data.broken.length > 0 ? <BrokenLine data={data} shown={filter.condition === kBroken} /> : null}
              {data?.idle_allocated ? <IdleLine data={data} idle={data.idle_allocated} shown={filter.condition === kIdle} /> : null}
              <div class="filters" role="search" aria-label="Filter nodes">
                <Select
                  label="Partition"
                  name="partition"
                  value={filter.partition ?? ''}
                  all="all"
                  options={partitionOptions(data?.groups ?? [])}
                />
                <Select label="GPU" name="gpu" value={filter.gpu ?? ''} all="all" options={gpuOptions(data?.groups ?? [])} />
                <Select
                  label="Condition"
                  name="condition"
                  value={filter.condition ?? ''}
                  all="all"
                  options={conditionOptions(data, filter.condition)}
                />
                <SearchBox label="Search" value={filter.search ?? ''} hint="name, feature, reason" />
                {listed ? null : <Select label="Show" name="map" value={picture ?? ''} all="node by node" options={kPictures} />}
                {whole ? <Select label="Group by" name="by" value={params.get('by') ?? ''} all="GPU type" options={kGroupings} /> : null}
                {picture === 'time' ? (
                  <Select
                    label="Time"
                    name="range"
                    value={params.get('range') || '24h'}
                    options={timeOptions(params.get('range'), hours)}
                  />
                ) : null}
                {data && !listed && !picture ? (
                  <Pager offset={data.offset} shown={data.nodes.length} total={data.total} size={kPage} noun="nodes" />
                ) : null}
              </div>
              {data && !picture ? <Found data={data} open={open} condition={filter.condition} /> : null}
              {whole ? <Whole map={map} params={params} now={data?.meta.snapshot_taken_at ?? 0} /> : null}
              {picture === 'time' ? <InTime filter={filter} hours={hours} offset={offset} /> : null}
            </Panel>
            {whole && !map.data && !map.error ? null : <SchedulerPanel />}
          </>
        )}
      </Answering>
    </ShortContext.Provider>
  );
}

interface InTimeProps {
  filter: Params;
  hours: number;
  offset: number;
}

function InTime({ filter, hours, offset }: InTimeProps) {
  const answer = useAnswer<Timeline>(requestOf('v1/timeline', { ...filter, hours, offset: offset || null, limit: kGanttPage }));
  return (
    <Answering of={answer}>
      {(data) =>
        data ? (
          <>
            <Pager offset={data.offset} shown={data.nodes.length} total={data.total} size={kGanttPage} noun="nodes" />
            <AsOf />
            <Warnings of={data.warnings} />
            <Gantt data={data} />
          </>
        ) : null
      }
    </Answering>
  );
}

/** The hours before and after now; of a range that was chosen elsewhere as many as there can be. */
function timeOptions(said: string | null, hours: number) {
  const own = ['6h', '24h', '48h'].map((value) => ({ value, label: `${value.slice(0, -1)} hours` }));
  return said === null || own.some(({ value }) => value === said) ? own : [...own, { value: said, label: plural(hours, 'hour') }];
}

function Whole({ map, params, now }: { map: Loaded<ClusterMap>; params: URLSearchParams; now: number }) {
  const list = useRef<HTMLDivElement>(null);
  const open = params.get('node');
  const by = kGroupings.find((one) => one.value === params.get('by'))?.value ?? 'type';
  const [partition, gpu, condition, search] = ['partition', 'gpu', 'condition', 'search'].map((name) => params.get(name) ?? '');
  const wanted = (node: MapNode) =>
    (!partition || node.partition === partition) &&
    (!gpu || node.gpu === gpu) &&
    (!condition || node.condition === condition) &&
    (!search || node.name.toLowerCase().includes(search.toLowerCase()));
  return (
    <div class={open ? 'with-details' : ''}>
      <div ref={list}>
        <ClusterMapView answer={map} by={by} wanted={wanted} open={open} />
      </div>
      {open ? <NodeDetails name={open} node={undefined} now={now} list={list} /> : null}
    </div>
  );
}

function BrokenLine({ data, shown }: { data: Nodes; shown: boolean }) {
  return (
    <p class="note">
      On the whole cluster down or drained: {brokenWords(data.broken)}. <ListLink condition={kBroken} shown={shown} data={data} />
    </p>
  );
}

function IdleLine({ data, idle, shown }: { data: Nodes; idle: IdleAllocated; shown: boolean }) {
  return (
    <p class="note">
      <bdi>{idleAllocatedWords(idle)}</bdi>. {idle.nodes > 0 || shown ? <ListLink condition={kIdle} shown={shown} data={data} /> : null}
    </p>
  );
}

function ListLink({ condition, shown, data }: { condition: string; shown: boolean; data: Nodes }) {
  return (
    <>
      <a href={hashOf('nodes', shown ? {} : { condition })}>{shown ? 'All nodes' : 'List'}</a>
      {shown && data.nodes.length < data.total ? ` The first ${grouped(data.nodes.length)} of ${grouped(data.total)} are listed.` : ''}
    </>
  );
}

function Found({ data, open, condition }: { data: Nodes; open: string | null; condition: string | null }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  const list = useRef<HTMLDivElement>(null);
  const Nodewise = condition === kBroken ? BrokenTable : condition === kIdle ? IdleTable : NodeMap;
  return (
    <>
      {data.nodes.length === 0 ? <Empty>No node matches this filter.</Empty> : null}
      <div class={open ? 'with-details' : ''}>
        <div ref={list}>
          <Nodewise nodes={data.nodes} now={now} open={open} />
        </div>
        {open ? <NodeDetails name={open} node={data.nodes.find((node) => node.name === open)} now={now} list={list} /> : null}
      </div>
    </>
  );
}

function conditionOptions(data: Nodes | null, now: string | null) {
  const counted = (value: string, words: string, count: (of: Nodes['conditions']) => number) => ({
    value,
    label: data ? `${words} (${grouped(count(data.conditions))})` : words,
  });
  return [
    ...kConditions.map((condition) => counted(condition, kConditionWords[condition], (of) => of[condition] ?? 0)),
    counted(kBroken, 'broken: drained or down', (of) => of.drained + of.down),
    ...(data?.idle_allocated || now === kIdle ? [{ value: kIdle, label: idleOption(data) }] : []),
  ];
}

const idleOption = (data: Nodes | null) => {
  const idle = data?.idle_allocated;
  return idle && idle.problem === null ? `allocated, but unused (${plural(idle.gpus, 'GPU')})` : 'allocated, but unused';
};

function Legend() {
  const kinds = [
    ['free', 'free'],
    ['used', 'in use'],
    ['promised', 'kept for a job'],
    ['gone', 'unavailable'],
  ];
  return (
    <ul class="legend" aria-label="What the cells mean">
      {kinds.map(([kind, words]) => (
        <li key={kind}>
          <i class={`cell cell-${kind}`} aria-hidden="true" />
          {words}
        </li>
      ))}
    </ul>
  );
}
