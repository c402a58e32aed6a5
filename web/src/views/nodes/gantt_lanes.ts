// On which of a node's GPUs a picture puts each job. Slurm may give it others: only how many is known.
import type { TimelineJob } from '../../api/contract';

export interface Bar {
  job: TimelineJob;
  lane: number; // the first of its lanes, from 0
  lanes: number;
}

/** Each job on neighbouring lanes that are free when it starts, else on those that are free first. Jobs come in the order of their starts. */
export function barsOf(jobs: TimelineJob[], total: number): Bar[] {
  const freeFrom = Array<number>(total).fill(-Infinity);
  return jobs.map((job) => {
    const lanes = Math.min(Math.max(job.gpus, 1), total);
    const lane = placeFor(freeFrom, lanes, job.start);
    freeFrom.fill(job.end ?? Infinity, lane, lane + lanes);
    return { job, lane, lanes };
  });
}

function placeFor(freeFrom: number[], lanes: number, start: number): number {
  let best = 0;
  let bestFrom = Infinity;
  for (let at = 0; at + lanes <= freeFrom.length; ++at) {
    const from = Math.max(start, ...freeFrom.slice(at, at + lanes));
    if (from < bestFrom) [best, bestFrom] = [at, from];
  }
  return best;
}
