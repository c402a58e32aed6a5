// What a node of the picture is doing, in words, with its jobs once they are known.
import { useEffect, useState } from 'preact/hooks';
import type { Nodes } from '../../api/contract';
import { useAnswer } from '../../live/live';
import { Name } from '../../parts/name';
import { requestOf } from '../../parts/route';
import { plural } from '../../words/numbers';
import { clockTime } from '../../words/times';
import { idleWords, kConditionWords } from './condition';
import type { MapNode } from './map_groups';
import { useShort } from '../short_types';

const kPauseMilliseconds = 200; // before the jobs are asked for
const kMostJobs = 4;
const kTipWidth = 240;

export const tipWords = (node: MapNode, short: ReadonlySet<string>): string =>
  `${node.name}, ${kConditionWords[node.condition]}: ${node.used} of ${node.total} ${node.gpu_name.slice(0, 60)} in use, ` +
  idleWords(node, [node], short);

interface NodeTipProps {
  node: MapNode;
  place: { x: number; y: number };
  below: number; // pixels that the node takes
  width: number; // of the picture
}

export function NodeTip({ node, place, below, width }: NodeTipProps) {
  const short = useShort().types;
  const [asked, setAsked] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(node.name), kPauseMilliseconds);
    return () => clearTimeout(timer);
  }, [node.name]);
  const { data } = useAnswer<Nodes>(asked === node.name ? requestOf('v1/nodes', { node: asked }) : null);
  const found = data?.nodes.find((one) => one.name === node.name);
  const now = data?.meta.snapshot_taken_at ?? 0;
  return (
    <div
      class="map-tip"
      aria-hidden="true"
      style={{ left: `${Math.max(0, Math.min(place.x, width - kTipWidth))}px`, top: `${place.y + below + 4}px` }}
    >
      <b>
        <Name of={node.name} wide />
      </b>
      <span>
        {kConditionWords[node.condition]} · {node.used} of {node.total} in use · {idleWords(node, [node], short)}
      </span>
      {found?.reason ? <bdi>{found.reason.slice(0, 120)}</bdi> : null}
      {found?.jobs.slice(0, kMostJobs).map((job) => (
        <span key={job.job_id}>
          job {job.job_id} <Name of={job.user} /> · {plural(job.gpus, 'GPU')}, job ends {clockTime(job.end_p50, now)}
        </span>
      ))}
      {found && found.jobs_total > kMostJobs ? <span>and {found.jobs_total - kMostJobs} more</span> : null}
    </div>
  );
}
