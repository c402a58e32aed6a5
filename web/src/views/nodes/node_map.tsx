// The map: a tile for each node. Tiles whose node did not change are not drawn again.
import { memo } from 'preact/compat';
import type { ClusterNode } from '../../api/contract';
import { Name } from '../../parts/name';
import { setParams } from '../../parts/route';
import { duration } from '../../words/durations';
import { clockTime } from '../../words/times';
import { isKeptFor } from '../now/keepers';
import { cellsOf, idleWords, kConditionWords } from './condition';
import { useShort } from '../short_types';
import type { ShortTypes } from '../short_types';

interface NodeMapProps {
  nodes: ClusterNode[];
  now: number;
  open: string | null;
}

export function NodeMap({ nodes, now, open }: NodeMapProps) {
  const short = useShort();
  return (
    <ul class="map" aria-label="Nodes">
      {nodes.map((node) => (
        <Tile key={node.name} node={node} words={untilWords(node, now, short)} open={node.name === open} />
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
  const short = useShort().types;
  const cells = node.gpus.map((gpus) => cellsOf(node, gpus, short));
  const kept = cells.flat().includes('promised') && !cells.flat().includes('free');
  const total = cells.flat().length;
  return (
    <li id={`node-${node.name}`}>
      <button
        type="button"
        class={`tile tile-${kept ? 'promised' : node.condition}`}
        aria-expanded={open}
        onClick={() => setParams({ node: open ? null : node.name })}
      >
        <span class="tile-name">
          <Name of={node.name} wide />
        </span>
        <span class="unseen">
          , {kConditionWords[node.condition]}, {total === 0 ? 'no GPUs' : `${idleWords(node, node.gpus, short)} of ${total}`},{' '}
        </span>
        {node.gpus.map((gpus, at) => (
          <span key={gpus.gres_type} class={gpus.total > 8 ? 'cells cells-many' : 'cells'}>
            {cells[at]?.map((kind, place) => (
              <i key={place} class={`cell cell-${kind}`} />
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
function untilWords(node: ClusterNode, now: number, { types, limit }: ShortTypes): string {
  const { promised } = node;
  if (node.condition === 'down') return 'down';
  if (node.condition === 'drained') return node.jobs_total > 0 ? 'draining' : 'drained';
  if (node.condition === 'promised' && promised) return promised.job_id === null ? 'kept for a job' : `kept for job ${promised.job_id}`;
  if (node.reserved && (node.reserved.start ?? 0) <= now) return `reserved to ${clockTime(node.reserved.end, now)}`;
  if (node.condition === 'promised') return kConditionWords.promised;
  if (node.gpus.some((gpus) => gpus.free > 0 && types.has(gpus.gpu)))
    return promised && isKeptFor(promised.start, now, limit) ? `kept to ${clockTime(promised.start, now)}` : 'for short jobs';
  if (node.condition === 'free') return promised ? `free to ${clockTime(promised.start, now)}` : 'free';
  if (node.next_end_p50 === null) return kConditionWords[node.condition];
  const seconds = node.next_end_p50 - now;
  return seconds < 30 ? 'job ends soon' : `job ends in ${duration(seconds)}`;
}
