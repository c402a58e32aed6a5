// How old the shown snapshot is, and in which of four conditions the page is.
import { clockTime } from '../words/times';
import type { Live } from './stream';

export type Condition = 'live' | 'starting' | 'stale' | 'lost' | 'connecting';

/**
 * Seconds since the snapshot was taken, as of Date.now() = `now`, which also counts while a laptop
 * sleeps; a clock that was set back adds nothing. Null before the first.
 */
export function ageSeconds(live: Live, now: number): number | null {
  const age = live.snapshot?.snapshot_age_seconds;
  if (age === null || age === undefined) return null;
  return Math.max(0, age + Math.max(0, now - live.receivedAt) / 1000);
}

/** The worst that is true decides. */
export function conditionOf(live: Live): Condition {
  if (live.state === 'lost') return 'lost';
  if (live.state === 'connecting') return 'connecting';
  if (live.snapshot?.snapshot_taken_at == null) return 'starting';
  return live.snapshot.stale_cause ? 'stale' : 'live';
}

// The snapshot's time is the cluster's clock; the age says how long that is ago on the browser's.
function staleSince(live: Live): string {
  const taken = live.receivedAt / 1000 - (live.snapshot?.snapshot_age_seconds ?? 0);
  return clockTime(taken, Date.now() / 1000);
}

/** What a screen reader is told when the condition changes; empty while all is well. */
export function announcement(live: Live): string {
  switch (conditionOf(live)) {
    case 'lost':
      return live.snapshot
        ? `No connection to gpuadvised since ${clockTime(live.lostAt / 1000, Date.now() / 1000)}. Trying again; the last known data is shown.`
        : 'gpuadvised cannot be reached. Trying again.';
    case 'stale':
      return `Slurm has not answered since ${staleSince(live)}: ${live.snapshot?.stale_cause ?? ''}`;
    default: // while it starts, the head has it in short and the views the cause
      return '';
  }
}
