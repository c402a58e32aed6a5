// For which jobs free GPUs of a type are kept, by the forecast of their nodes.
import type { Nodes } from '../../api/contract';

export interface Keeper {
  job: number | null; // null: jobs that the caller may not see
  start: number; // the first of several
  free: number;
}

export interface Keeping {
  gpus: number; // that are kept
  keepers: Keeper[]; // the first to start first
  longest: number; // seconds: a job of up to this length delays none of them; 0: not known
  seen: number; // nodes that were looked at
  total: number;
}

/** Whether a job that is to start at `start` keeps one of `limit` seconds from starting now: not one that starts after its end. */
export const isKeptFor = (start: number, now: number, limit: number): boolean => start > now && start - now < limit;

/** What keeps a job of `limit` seconds from starting now. */
export function keepingOf({ nodes, total }: Nodes, gpu: string, now: number, limit: number): Keeping {
  const promises = nodes.flatMap((node) => {
    const free = node.gpus.filter((one) => one.gpu === gpu).reduce((sum, one) => sum + one.free, 0);
    const { promised } = node;
    return promised && free > 0 && promised.start > now ? [{ job: promised.job_id, start: promised.start, free }] : [];
  });
  const within = promises.filter(({ start }) => isKeptFor(start, now, limit));
  const found = new Map<number | null, Keeper>();
  for (const { job, start, free } of within) {
    const before = found.get(job);
    found.set(job, { job, start: Math.min(start, before?.start ?? start), free: free + (before?.free ?? 0) });
  }
  const known = within.length === promises.length && nodes.length >= total;
  return {
    gpus: within.reduce((sum, { free }) => sum + free, 0),
    keepers: [...found.values()].sort((a, b) => a.start - b.start),
    longest: known ? Math.max(0, ...within.map(({ start }) => start - now)) : 0,
    seen: nodes.length,
    total,
  };
}
