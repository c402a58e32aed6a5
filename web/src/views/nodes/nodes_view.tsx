// Nodes: what each partition has, and a map of nodes with one cell for each GPU.
import { useAnswer } from '../../live/live';
import type { NodesAnswer } from '../../api/types';
import { Pager, SearchBox, Select } from '../../parts/filters';
import { Answering, Empty, Panel } from '../../parts/panel';
import { numberParam, requestOf } from '../../parts/route';
import { GroupTable } from './group_table';
import { kConditions, kConditionWords } from './condition';
import { NodeDetails } from './node_details';
import { NodeMap } from './node_map';
import { gpuOptions, partitionOptions } from '../pool_options';
import { phrase, say } from '../../words/say';

const kPage = 200;

export function NodesView({ params }: { params: URLSearchParams }) {
  const offset = numberParam(params, 'offset', 0);
  const filter = {
    partition: params.get('partition'),
    gpu: params.get('gpu'),
    condition: params.get('condition'),
    search: params.get('search'),
  };
  const answer = useAnswer<NodesAnswer>(requestOf('v1/nodes', { ...filter, offset: offset || null, limit: kPage }));
  const open = params.get('node');
  return (
    <Answering of={answer}>
      {(data) => (
        <>
          {data ? (
            <Panel title={phrase('By partition')} id="groups">
              <GroupTable groups={data.groups} partition={filter.partition} gpu={filter.gpu} />
            </Panel>
          ) : null}
          <Panel title={phrase('Map')} id="map" actions={<Legend />}>
            <div class="filters" role="search" aria-label={phrase('Filter nodes')}>
              <Select label={phrase('Partition')} name="partition" value={filter.partition ?? ''} all={phrase('all')} options={partitionOptions(data?.groups ?? [])} />
              <Select label="GPU" name="gpu" value={filter.gpu ?? ''} all={phrase('all')} options={gpuOptions(data?.groups ?? [])} />
              <Select label={phrase('Condition')} name="condition" value={filter.condition ?? ''} all={phrase('all')} options={conditionOptions(data)} />
              <SearchBox label={phrase('Search')} value={filter.search ?? ''} hint={phrase('name, feature, reason')} />
              {data ? <Pager offset={data.offset} shown={data.nodes.length} total={data.total} size={kPage} noun={phrase('nodes')} /> : null}
            </div>
            {data ? <Found data={data} open={open} /> : null}
          </Panel>
        </>
      )}
    </Answering>
  );
}

function Found({ data, open }: { data: NodesAnswer; open: string | null }) {
  const now = data.meta.snapshot_taken_at ?? 0;
  return (
    <>
      {data.nodes.length === 0 ? <Empty>{phrase('No node matches this filter.')}</Empty> : null}
      <div class={open ? 'with-details' : ''}>
        <NodeMap nodes={data.nodes} now={now} open={open} />
        {open ? <NodeDetails name={open} node={data.nodes.find((node) => node.name === open)} now={now} /> : null}
      </div>
    </>
  );
}

function conditionOptions(data: NodesAnswer | null) {
  return kConditions.map((condition) => ({
    value: condition,
    label: data ? `${phrase(kConditionWords[condition])} (${data.conditions[condition] ?? 0})` : phrase(kConditionWords[condition]),
  }));
}

function Legend() {
  const kinds = [
    ['free', 'free'],
    ['used', 'in use'],
    ['promised', 'promised to a job'],
    ['gone', say('nodes.unavailable')],
  ];
  return (
    <ul class="legend" aria-label={phrase('What the cells mean')}>
      {kinds.map(([kind, words]) => (
        <li key={kind}><i class={`cell cell-${kind}`} aria-hidden="true" />{phrase(words ?? '')}</li>
      ))}
    </ul>
  );
}
