// The six conditions of a node, and what its GPUs' cells are.
import type { ClusterNode, NodeGpus } from '../../api/contract';
import type { Condition } from '../../api/types';

export const kConditions: Condition[] = ['free', 'partly', 'busy', 'promised', 'drained', 'down'];

export const kConditionWords: Record<Condition, string> = {
  free: 'free',
  partly: 'partly free',
  busy: 'busy',
  promised: 'kept for a job',
  drained: 'drained',
  down: 'down',
};

/** No new job gets it. */
export const isBroken = (node: Pick<ClusterNode, 'condition'>): boolean => node.condition === 'drained' || node.condition === 'down';

export type CellKind = 'free' | 'used' | 'promised' | 'gone';

/** One kind for each GPU: used first, then free (or kept), then what is unavailable. */
export function cellsOf(node: Pick<ClusterNode, 'condition'>, gpus: Pick<NodeGpus, 'total' | 'used' | 'free'>): CellKind[] {
  const used = Math.min(gpus.used, gpus.total);
  const rest = gpus.total - used;
  const up = !isBroken(node);
  const promised = up && node.condition === 'promised';
  const free = promised ? rest : up ? Math.min(gpus.free, rest) : 0;
  const cells: CellKind[] = [];
  for (let at = 0; at < gpus.total; ++at) {
    if (at < used) cells.push('used');
    else if (at < used + free) cells.push(promised ? 'promised' : 'free');
    else cells.push('gone');
  }
  return cells;
}

/** "2 of 4 free", over all types of the node. */
export function freeWords(node: ClusterNode): string {
  const total = node.gpus.reduce((sum, gpus) => sum + gpus.total, 0);
  const free = node.gpus.reduce((sum, gpus) => sum + gpus.free, 0);
  return total === 0 ? 'no GPUs' : `${free} of ${total} free`;
}
