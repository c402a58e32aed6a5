// Broken nodes: down, drained or draining, since when, why, by whom, and what that costs.
import type { BrokenGpus, ClusterNode } from '../../api/contract';
import { Name, Names } from '../../parts/name';
import { DataTable } from '../../parts/table';
import { length } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockTime, fullTime } from '../../words/times';
import { NodeButton, totalOf, typesOf, usedOf } from './node_cells';

interface BrokenTableProps {
  nodes: ClusterNode[];
  now: number;
  open: string | null;
}

export function BrokenTable({ nodes, now, open }: BrokenTableProps) {
  const named = nodes.some((node) => node.reason !== '' || node.reason_user !== '');
  return (
    <DataTable
      caption="Broken nodes"
      class="broken stacked"
      sort="sort-broken"
      rows={nodes}
      keyOf={(node) => node.name}
      rowClass={(node) => (node.name === open ? 'chosen' : undefined)}
      columns={[
        { head: 'Node', cell: (node) => <NodeButton node={node} open={open} />, value: (node) => node.name },
        { head: 'State', cell: (node) => <bdi>{node.state}</bdi>, value: (node) => node.state },
        ...(named
          ? [
              {
                head: 'Reason',
                cell: (node: ClusterNode) =>
                  node.reason ? <bdi class="long">{node.reason.slice(0, 300)}</bdi> : <span class="quiet">–</span>,
                value: (node: ClusterNode) => node.reason,
              },
              { head: 'By', cell: (node: ClusterNode) => <Name of={node.reason_user} />, value: (node: ClusterNode) => node.reason_user },
            ]
          : []),
        {
          head: 'Since',
          cell: (node) => (node.since === null ? '–' : `${clockTime(node.since, now)}, ${length(now - node.since)}`),
          value: (node) => (node.since === null ? null : fullTime(node.since)),
          order: (node) => node.since,
        },
        { head: 'GPU', cell: (node) => <Names of={typesOf(node)} />, value: (node) => typesOf(node).join(', ') },
        { head: 'GPUs lost', value: (node) => totalOf(node) - usedOf(node), words: grouped },
        { head: 'Still in use', cell: (node) => inUseWords(node, now), value: usedOf, right: true },
      ]}
    />
  );
}

/** "2, next job ends 14:05": a draining node loses its GPUs as its jobs end. */
function inUseWords(node: ClusterNode, now: number): string {
  const used = usedOf(node);
  return used > 0 && node.next_end_p50 !== null ? `${grouped(used)}, next job ends ${clockTime(node.next_end_p50, now)}` : grouped(used);
}

/** "7 nodes, 26 GPUs lost: 12 L40S, 14 RTX 4090". */
export function brokenWords(broken: BrokenGpus[]): string {
  const sum = (count: (row: BrokenGpus) => number) => broken.reduce((total, row) => total + count(row), 0);
  const types = broken.filter((row) => row.lost > 0).map((row) => `${grouped(row.lost)} ${row.gpu_name.slice(0, 60)}`);
  const lost = sum((row) => row.lost);
  const nodes = sum((row) => row.nodes);
  return `${plural(nodes, 'node')}, ${plural(lost, 'GPU')} lost${types.length > 0 ? `: ${types.join(', ')}` : ''}`;
}
