// Partition × GPU type: how many of its GPUs are free, in use, kept, unavailable. A row's name
// filters the map by it.
import type { NodeGroup } from '../../api/contract';
import { ShareBar } from '../../parts/share_bar';
import { DataTable } from '../../parts/table';
import { countColumn, gpuColumn, isChosen, partitionColumn } from '../table_columns';

interface GroupTableProps {
  groups: NodeGroup[];
  partition: string | null;
  gpu: string | null;
}

export function GroupTable({ groups, partition, gpu }: GroupTableProps) {
  const chosen = (group: NodeGroup) => isChosen(group, partition, gpu);
  return (
    <DataTable
      caption="GPUs by partition and type"
      class="groups with-bar"
      sort="sort-groups"
      rows={groups}
      keyOf={(group) => `${group.partition}/${group.gpu}`}
      rowClass={(group) => (chosen(group) ? 'chosen' : undefined)}
      columns={[
        partitionColumn<NodeGroup>('nodes', chosen),
        gpuColumn<NodeGroup>(),
        countColumn<NodeGroup>('Nodes', (group) => group.nodes),
        countColumn<NodeGroup>('GPUs', (group) => group.gpus),
        countColumn<NodeGroup>('Free', (group) => group.free),
        countColumn<NodeGroup>('In use', (group) => group.used),
        countColumn<NodeGroup>('Kept', (group) => group.promised),
        countColumn<NodeGroup>('Unavailable', (group) => group.unavailable),
        { head: 'Bar', hideHead: true, cell: (group) => (group.gpus > 0 ? <ShareBar parts={partsOf(group)} total={group.gpus} /> : null) },
      ]}
    />
  );
}

const partsOf = (group: NodeGroup) => [
  { name: 'free', value: group.free, kind: 'free' },
  { name: 'kept', value: group.promised, kind: 'promised' },
  { name: 'in use', value: group.used, kind: 'used' },
  { name: 'unavailable', value: group.unavailable, kind: 'gone' },
];
