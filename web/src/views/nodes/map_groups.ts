// The answer of GET /v1/map as nodes, and nodes in groups.
import type { ClusterMap } from '../../api/contract';
import type { Condition } from '../../api/types';
import { cellsOf } from './condition';
import type { CellKind } from './condition';

export interface MapNode {
  name: string;
  partition: string;
  gpu: string;
  gpu_name: string;
  condition: Condition;
  total: number;
  used: number;
  free: number;
}

export interface MapGroup {
  key: string;
  words: string; // its name for people
  nodes: MapNode[];
}

export type GroupedBy = 'type' | 'partition' | 'rack';

const kLetters: Record<string, Condition> = { f: 'free', p: 'partly', b: 'busy', k: 'promised', d: 'drained', x: 'down' };
const kMostNames = 100_000;

export function nodesOf(map: ClusterMap): MapNode[] {
  return map.groups.flatMap((group) => {
    const { partition, gpu, gpu_name, gpus_per_node: total } = group;
    return expandHosts(group.nodes).map((name, at) => ({
      name,
      partition,
      gpu,
      gpu_name,
      total,
      condition: kLetters[group.condition[at] ?? ''] ?? 'down',
      used: digit(group.used[at]),
      free: digit(group.free[at]),
    }));
  });
}

const digit = (text: string | undefined) => parseInt(text ?? '0', 36) || 0;

/** "n[01-03,7],m1" as names; several brackets multiply, the rightmost counting fastest. */
export function expandHosts(text: string): string[] {
  const items = text.match(/(?:[^,[\]]|\[[^\]]*\])+/g) ?? [];
  return items.flatMap(expandOne).slice(0, kMostNames);
}

function expandOne(item: string): string[] {
  const [, head = '', ranges, tail = ''] = /^([^[]*)\[([^\]]*)\](.*)$/.exec(item) ?? [];
  if (ranges === undefined) return [item];
  const rest = expandOne(tail);
  return ranges.split(',').flatMap((range) => numbersOf(range).flatMap((number) => rest.map((end) => head + number + end)));
}

function numbersOf(range: string): string[] {
  const [first = '', last = first] = range.split('-');
  const count = Math.min(kMostNames, Number(last) - Number(first) + 1);
  return Array.from({ length: Math.max(0, count || 0) }, (_, at) => String(Number(first) + at).padStart(first.length, '0'));
}

/** What the name says of where a node stands: "r12" of "r12n03", "gpu" of "gpu07". */
export function rackOf(name: string): string {
  return /^(.*\d)\D+\d+$/.exec(name)?.[1] ?? name.replace(/\d+$/, '');
}

const keyOf: Record<GroupedBy, (node: MapNode) => [string, string]> = {
  type: (node) => [node.gpu, node.gpu_name],
  partition: (node) => [node.partition, node.partition],
  rack: (node) => [rackOf(node.name), rackOf(node.name)],
};

/** In the order in which the groups appear. */
export function groupsBy(nodes: MapNode[], by: GroupedBy): MapGroup[] {
  const found = new Map<string, MapGroup>();
  for (const node of nodes) {
    const [key, words] = keyOf[by](node);
    const group = found.get(key) ?? { key, words, nodes: [] };
    found.set(key, group);
    group.nodes.push(node);
  }
  return [...found.values()];
}

/** How many GPUs there are of each kind. */
export function countsOf(nodes: MapNode[], short: ReadonlySet<string>): Record<CellKind, number> {
  const counts = { free: 0, used: 0, promised: 0, gone: 0 };
  for (const node of nodes) for (const kind of cellsOf(node, node, short)) counts[kind] += 1;
  return counts;
}
