// Partition × GPU type: how many of its GPUs are free, in use, promised, not to be had. A row's name
// filters the map by it.
import type { NodeGroup } from '../../api/contract';
import { Name } from '../../parts/name';
import { hashOf } from '../../parts/route';
import { ShareBar } from '../../parts/share_bar';
import { Table } from '../../parts/table';
import { grouped } from '../../words/numbers';
import { restOfLabel } from '../pool_options';

interface GroupTableProps {
  groups: NodeGroup[];
  partition: string | null;
  gpu: string | null;
}

export function GroupTable({ groups, partition, gpu }: GroupTableProps) {
  return (
    <Table caption="GPUs by partition and type" class="groups">
      <thead>
        <tr>
          <th scope="col">Partition</th>
          <th scope="col">GPU</th>
          {['Nodes', 'GPUs', 'Free', 'In use', 'Promised', 'Gone'].map((head) => (
            <th key={head} scope="col" class="right">{head}</th>
          ))}
          <th scope="col" class="bar-column"><span class="unseen">Bar</span></th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <GroupRow key={`${group.partition}/${group.gpu}`} group={group} chosen={group.partition === partition && (group.gpu === gpu || (!gpu && group.gpu === ''))} />
        ))}
      </tbody>
    </Table>
  );
}

function GroupRow({ group, chosen }: { group: NodeGroup; chosen: boolean }) {
  const to = hashOf('nodes', chosen ? {} : { partition: group.partition, gpu: group.gpu });
  const parts = [
    { name: 'free', value: group.free, kind: 'free' },
    { name: 'in use', value: group.used, kind: 'used' },
    { name: 'promised', value: group.promised, kind: 'promised' },
    { name: 'unavailable', value: group.unavailable, kind: 'gone' },
  ];
  return (
    <tr class={chosen ? 'chosen' : ''} data-partition={group.partition} data-gpu={group.gpu} data-nodes={group.nodes} data-gpus={group.gpus} data-free={group.free} data-used={group.used} data-promised={group.promised} data-unavailable={group.unavailable}>
      <th scope="row">
        <a href={to}><Name of={group.partition} /><span class="unseen">{restOfLabel(group, chosen)}</span></a>
      </th>
      <td>{group.gpu === '' ? <span class="quiet">no GPUs</span> : <Name of={group.gpu_name} />}</td>
      {[group.nodes, group.gpus, group.free, group.used, group.promised, group.unavailable].map((value, index) => (
        <td key={index} class={value === 0 ? 'right quiet' : 'right'}>{grouped(value)}</td>
      ))}
      <td>{group.gpus > 0 ? <ShareBar parts={parts} total={group.gpus} /> : null}</td>
    </tr>
  );
}
