// The six conditions of a node, and what its GPUs' cells are.
import type { ClusterNode, NodeGpus } from '../../api/contract';
import type { Condition } from '../../api/types';

export const kConditions: Condition[] = ['free', 'partly', 'busy', 'promised', 'drained', 'down'];

export const kConditionWords: Record<Condition, string> = {
  free: 'free',
  partly: 'partly in use',
  busy: 'busy',
  promised: 'kept for a job',
  drained: 'drained',
  down: 'down',
};

/** No new job gets it. */
export const isBroken = (node: Pick<ClusterNode, 'condition'>): boolean => node.condition === 'drained' || node.condition === 'down';

export type CellKind = 'free' | 'used' | 'promised' | 'gone';

type Counted = Pick<NodeGpus, 'gpu' | 'total' | 'used' | 'free'>;

/** One kind for each GPU: used first, then free (or kept, as those of `short` types are), then what is unavailable. */
export function cellsOf(node: Pick<ClusterNode, 'condition'>, gpus: Counted, short: ReadonlySet<string>): CellKind[] {
  const used = Math.min(gpus.used, gpus.total);
  const free = isBroken(node) ? 0 : Math.min(gpus.free, gpus.total - used);
  const kind = node.condition === 'promised' || short.has(gpus.gpu) ? 'promised' : 'free';
  return Array.from({ length: gpus.total }, (_, at) => (at < used ? 'used' : at < used + free ? kind : 'gone'));
}

/** "2 free", "3 kept", or both, over all that are given. */
export function idleWords(node: Pick<ClusterNode, 'condition'>, gpus: Counted[], short: ReadonlySet<string>): string {
  const cells = gpus.flatMap((one) => cellsOf(node, one, short));
  const [free, kept] = ['free', 'promised'].map((kind) => cells.filter((cell) => cell === kind).length);
  return !kept ? `${free} free` : free ? `${free} free, ${kept} kept` : `${kept} kept`;
}
