// Partition × GPU type: how many of its GPUs are free, in use, kept, unavailable. A row's name
// filters the map by it.
import type { NodeGroup } from '../../api/contract';
import { Name } from '../../parts/name';
import { ShareBar } from '../../parts/share_bar';
import { DataTable } from '../../parts/table';
import { useKeptOf } from '../now/kept';
import { gpuColumn, isChosen, partitionColumn } from '../table_columns';
import { useShort } from '../short_types';
import { grouped } from '../../words/numbers';

interface GroupTableProps {
  groups: NodeGroup[];
  partition: string | null;
  gpu: string | null;
}

export function GroupTable({ groups, partition, gpu }: GroupTableProps) {
  const { types, limit } = useShort();
  const chosen = (group: NodeGroup) => isChosen(group, partition, gpu);
  const rows = groups.map((group) => (types.has(group.gpu) ? { ...group, free: 0, promised: group.promised + group.free } : group));
  const short = groups.filter((one, at) => types.has(one.gpu) && groups.findIndex(({ gpu }) => gpu === one.gpu) === at);
  return (
    <>
      <DataTable
        caption="GPUs by partition and type"
        class="groups with-bar"
        sort="sort-groups"
        rows={rows}
        keyOf={(group) => `${group.partition}/${group.gpu}`}
        rowClass={(group) => (chosen(group) ? 'chosen' : undefined)}
        columns={[
          partitionColumn<NodeGroup>('nodes', chosen),
          gpuColumn<NodeGroup>(),
          { head: 'Free', value: (group) => group.free, words: grouped },
          { head: 'In use', value: (group) => group.used, words: grouped },
          { head: 'Kept', value: (group) => group.promised, words: grouped },
          { head: 'Unavailable', value: (group) => group.unavailable, words: grouped },
          { head: 'GPUs', value: (group) => group.gpus, words: grouped },
          { head: 'Nodes', value: (group) => group.nodes, words: grouped },
          {
            head: 'Bar',
            hideHead: true,
            cell: (group) => (group.gpus > 0 ? <ShareBar parts={partsOf(group)} total={group.gpus} /> : null),
          },
        ]}
      />
      {short.length > 0 ? (
        <ul class="reason-list kept-types">
          {short.map((one) => (
            <KeptOf key={one.gpu} group={one} limit={limit} types={short.length} />
          ))}
        </ul>
      ) : null}
    </>
  );
}

/** For whom free GPUs of a type are kept, and until when. */
function KeptOf({ group: { gpu, gpu_name }, limit, types }: { group: NodeGroup; limit: number; types: number }) {
  const { show } = useKeptOf(gpu, limit, types);
  return (
    <li>
      <Name of={gpu_name} />: {show}
    </li>
  );
}

const partsOf = (group: NodeGroup) => [
  { name: 'free', value: group.free, kind: 'free' },
  { name: 'kept', value: group.promised, kind: 'promised' },
  { name: 'in use', value: group.used, kind: 'used' },
  { name: 'unavailable', value: group.unavailable, kind: 'gone' },
];
