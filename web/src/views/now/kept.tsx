// Why free GPUs of a type wait: the jobs that they are kept for.
import type { Nodes } from '../../api/contract';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../live/live';
import { hashOf, requestOf } from '../../parts/route';
import { duration, limit as limitWords } from '../../words/durations';
import { grouped, plural } from '../../words/numbers';
import { clockTime } from '../../words/times';
import { keepingOf } from './keepers';
import type { Keeper, Keeping } from './keepers';

const kMostNodes = 200; // of one answer
const kMostJobs = 2;
const kMinute = 60;

export interface Kept extends Keeping {
  now: number;
}

/** Null: not known, or nothing is asked because `gpu` is null. */
function useKept(gpu: string | null, limit: number): Kept | null {
  const { data } = useAnswer<Nodes>(gpu === null ? null : requestOf('v1/nodes', { gpu, limit: kMostNodes }));
  if (gpu === null || !data) return null;
  const now = data.meta.snapshot_taken_at ?? 0;
  return { ...keepingOf(data, gpu, now, limit), now };
}

/** Of more types than this the nodes are asked for when a visitor opens a type: each answer is another after each snapshot. */
const kMostAsked = 2;

/** The jobs that free GPUs of `gpu` are kept for; `types` have such GPUs. `show` puts them where there is room. */
export function useKeptOf(gpu: string | null, limit: number, types: number) {
  const folded = types > kMostAsked;
  const [open, setOpen] = useState(false);
  const kept = useKept(folded && !open ? null : gpu, limit);
  const words = <KeptWords kept={kept} limit={limit} />;
  const show = folded ? (
    <details class="kept" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Free, and kept for others</summary>
      {open ? words : null}
    </details>
  ) : (
    words
  );
  return { kept, show };
}

function KeptWords({ kept, limit }: { kept: Kept | null; limit: number }) {
  const part =
    kept && kept.seen < kept.total ? ` Only the first ${grouped(kept.seen)} of ${grouped(kept.total)} nodes were looked at.` : '';
  if (!kept || kept.keepers.length === 0) {
    return (
      <span class="kept">
        A job of {limitWords(limit)} has to wait for others.{part}
      </span>
    );
  }
  const { keepers, now } = kept;
  const longest = Math.floor(kept.longest / kMinute) * kMinute;
  return (
    <span class="kept">
      {keepers.slice(0, kMostJobs).map((keeper, at) => (
        <span key={keeper.job ?? 'hidden'}>
          {at > 0 ? '; ' : ''}
          {plural(keeper.free, 'GPU')} kept for {keeperWords(keeper, now)}
        </span>
      ))}
      {restWords(keepers.slice(kMostJobs))}.{longest > 0 ? ` A job of up to ${duration(longest)} may start now.` : ''}
      {part}
    </span>
  );
}

function keeperWords({ job, start }: Keeper, now: number) {
  const time = clockTime(start, now);
  if (job === null) return `other jobs, the first until ${time}`;
  return (
    <>
      <a href={hashOf('queue', { job })}>job {job}</a> until {time}
    </>
  );
}

function restWords(rest: Keeper[]): string {
  if (rest.length === 0) return '';
  return rest.some(({ job }) => job === null) ? ' and more jobs' : ` and ${plural(rest.length, 'more job')}`;
}
