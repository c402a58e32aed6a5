// A wait as a range in words, and the colour of the wait scale that goes with it.
import { duration, waitLevel } from '../../words/durations';

export function WaitWords({ p50, p90 }: { p50: number | null; p90: number | null }) {
  const low = duration(p50);
  const high = duration(p90);
  if (low === high || high === '–') return <data value={p50 ?? ''}>{low}</data>;
  return (
    <span>
      <data value={p50 ?? ''}>{low}</data>{' '}
      <span class="to">
        – <data value={p90 ?? ''}>{high}</data>
      </span>
    </span>
  );
}

/** Of the p90: doubt is not painted as "now". */
export function waitClass(wait: { wait_p50_seconds: number | null; wait_p90_seconds: number | null }): string {
  const level = waitLevel(wait.wait_p90_seconds ?? wait.wait_p50_seconds);
  return level === null ? 'wait-never' : `wait-${level}`;
}

const kSteps = ['now', '< 15 min', '< 1 h', '< 4 h', '< 1 d', 'longer'];
const kPastSteps = ['< 1 min', ...kSteps.slice(1)];

/** `past`: of waits that are over. */
export function WaitScale({ past = false }: { past?: boolean }) {
  return (
    <ul class="wait-scale" aria-label={past ? 'Colours of waits' : 'Colours of waits, by the p90'}>
      {(past ? kPastSteps : kSteps).map((words, level) => (
        <li key={words} class={`wait-${level}`}>
          {words}
        </li>
      ))}
      <li>
        <details>
          <summary>What is p90?</summary>
          p10, p50 (the median) and p90 are the times by which 10, 50 and 90 % of such jobs start.
        </details>
      </li>
    </ul>
  );
}
