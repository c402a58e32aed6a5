// What the tables of nodes have in common.
import type { ClusterNode } from '../../api/contract';
import { Name } from '../../parts/name';
import { setParams } from '../../parts/route';

export const totalOf = (node: ClusterNode) => node.gpus.reduce((sum, gpus) => sum + gpus.total, 0);
export const usedOf = (node: ClusterNode) => node.gpus.reduce((sum, gpus) => sum + gpus.used, 0);
export const typesOf = (node: ClusterNode) => node.gpus.map((gpus) => gpus.gpu_name);

export function NodeButton({ node, open }: { node: ClusterNode; open: string | null }) {
  const chosen = node.name === open;
  return (
    <button type="button" class="link" aria-expanded={chosen} onClick={() => setParams({ node: chosen ? null : node.name })}>
      <Name of={node.name} wide />
    </button>
  );
}
