// The map: a tile for each node. Tiles whose node did not change are not drawn again.
import { memo } from 'preact/compat';
import type { ClusterNode } from '../../api/contract';
import { Name } from '../../parts/name';
import { setParams } from '../../parts/route';
import { duration } from '../../words/durations';
import { clockTime } from '../../words/times';
import { cellsOf, freeWords, kConditionWords } from './condition';

interface NodeMapProps {
  nodes: ClusterNode[];
  now: number;
  open: string | null;
}

export function NodeMap({ nodes, now, open }: NodeMapProps) {
  return (
    <ul class="map" aria-label="Nodes">
      {nodes.map((node) => (
        <Tile key={node.name} node={node} words={untilWords(node, now)} open={node.name === open} />
      ))}
    </ul>
  );
}

interface TileProps {
  node: ClusterNode;
  words: string;
  open: boolean;
}

const same = (a: TileProps, b: TileProps) => a.open === b.open && a.words === b.words && JSON.stringify(a.node) === JSON.stringify(b.node);

const Tile = memo(function Tile({ node, words, open }: TileProps) {
  const condition = kConditionWords[node.condition];
  return (
    <li id={`node-${node.name}`}>
      <button
        type="button"
        class={`tile tile-${node.condition}`}
        aria-expanded={open}
        onClick={() => setParams({ node: open ? null : node.name })}
      >
        <span class="tile-name">
          <Name of={node.name} wide />
        </span>
        <span class="unseen">
          , {condition}, {freeWords(node)},{' '}
        </span>
        {node.gpus.map((gpus) => (
          <span key={gpus.gres_type} class={gpus.total > 8 ? 'cells cells-many' : 'cells'}>
            {cellsOf(node, gpus).map((kind, at) => (
              <i key={at} class={`cell cell-${kind}`} />
            ))}
          </span>
        ))}
        {node.gpus.length === 0 ? <span class="cells quiet">no GPUs</span> : null}
        <span class="tile-until">{words}</span>
      </button>
    </li>
  );
}, same);

/** Until when: what matters most about the node now, in a few words. */
function untilWords(node: ClusterNode, now: number): string {
  if (node.condition === 'down') return 'down';
  if (node.condition === 'drained') return node.jobs_total > 0 ? 'draining' : 'drained';
  if (node.condition === 'promised' && node.promised)
    return node.promised.job_id === null ? 'kept for a job' : `kept for job ${node.promised.job_id}`;
  if (node.reserved && (node.reserved.start ?? 0) <= now) return `reserved to ${clockTime(node.reserved.end, now)}`;
  if (node.condition === 'free') return node.promised ? `free to ${clockTime(node.promised.start, now)}` : 'free';
  if (node.next_end_p50 === null) return kConditionWords[node.condition];
  const seconds = node.next_end_p50 - now;
  return seconds < 30 ? 'more any moment' : `more in ${duration(seconds)}`;
}
