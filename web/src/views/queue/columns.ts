// What the jobs are sorted by.
import { sortingOf } from '../../parts/sort';

/** By the head of a column, what the daemon sorts by. */
export const kSortedBy: Partial<Record<string, string>> = {
  Job: 'job_id',
  Of: 'user',
  GPUs: 'gpus',
  Where: 'partition',
  State: 'state',
  'Starts / ends, p50 – p90': 'start',
};

/** "-Job" of the page's address as the daemon's "-job_id"; null: in its own order. */
export function sortParam(text: string | null): string | null {
  const { column, down } = sortingOf(text);
  const key = kSortedBy[column ?? ''];
  return key ? `${down ? '-' : ''}${key}` : null;
}
