// Nodes: what each partition has, and a map of nodes with one cell for each GPU.
import { useAnswer } from '../../live/live';
import type { Nodes } from '../../api/contract';
import { Pager, SearchBox, Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { numberParam, requestOf } from '../../parts/route';
import { GroupTable } from './group_table';
import { kConditions, kConditionWords } from './condition';
import { NodeDetails } from './node_details';
import { NodeMap } from './node_map';
import { gpuOptions, partitionOptions } from '../pool_options';

const kPage = 200;

export function NodesView({ params }: { params: URLSearchParams }) {
  const offset = numberParam(params, 'offset', 0);
  const filter = {
    partition: params.get('partition'),
    gpu: params.get('gpu'),
    condition: params.get('condition'),
    search: params.get('search'),
  };
  const answer = useAnswer<Nodes>(requestOf('v1/nodes', { ...filter, offset: offset || null, limit: kPage }));
  const open = params.get('node');
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          {data ? (
            <Panel title="By partition" id="groups">
              <GroupTable groups={data.groups} partition={filter.partition} gpu={filter.gpu} />
            </Panel>
          ) : null}
          <Panel title="Map" id="map" actions={<Legend />}>
            <div class="filters" role="search" aria-label="Filter nodes">
              <Select label="Partition" name="partition" value={filter.partition ?? ''} all="all" options={partitionOptions(data?.groups ?? [])} />
              <Select label="GPU" name="gpu" value={filter.gpu ?? ''} all="all" options={gpuOptions(data?.groups ?? [])} />
              <Select label="Condition" name="condition" value={filter.condition ?? ''} all="all" options={conditionOptions(data)} />
              <SearchBox label="Search" value={filter.search ?? ''} hint="name, feature, reason" />
              {data ? <Pager offset={data.offset} shown={data.nodes.length} total={data.total} size={kPage} noun="nodes" /> : null}
            </div>
            {data ? <Found data={data} open={open} /> : null}
          </Panel>
        </>
      )}
    </Answering>
  );
}

function Found({ data, open }: { data: Nodes; open: string | null }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  return (
    <>
      {data.nodes.length === 0 ? <Empty>No node matches this filter.</Empty> : null}
      <div class={open ? 'with-details' : ''}>
        <NodeMap nodes={data.nodes} now={now} open={open} />
        {open ? <NodeDetails name={open} node={data.nodes.find((node) => node.name === open)} now={now} /> : null}
      </div>
    </>
  );
}

function conditionOptions(data: Nodes | null) {
  return kConditions.map((condition) => ({
    value: condition,
    label: data ? `${kConditionWords[condition]} (${data.conditions[condition] ?? 0})` : kConditionWords[condition],
  }));
}

function Legend() {
  const kinds = [
    ['free', 'free'],
    ['used', 'in use'],
    ['promised', 'promised to a job'],
    ['gone', 'unavailable'],
  ];
  return (
    <ul class="legend" aria-label="What the cells mean">
      {kinds.map(([kind, words]) => (
        <li key={kind}><i class={`cell cell-${kind}`} aria-hidden="true" />{words ?? ''}</li>
      ))}
    </ul>
  );
}
