// A wait as a range in words on the colour of the wait scale.
import { duration, durationRange, waitLevel } from '../../words/durations';

export function WaitWords({ p50, p90 }: { p50: number | null; p90: number | null }) {
  const low = duration(p50);
  const high = duration(p90);
  if (low === high || high === '–') return <>{low}</>;
  return (
    <>
      {low} <span class="to">– {high}</span>
    </>
  );
}

interface WaitCellProps {
  p50: number | null;
  p90: number | null;
  title?: string;
}

/** The cell's colour is that of the p90: doubt is not painted green. */
export function WaitCell({ p50, p90, title }: WaitCellProps) {
  const level = waitLevel(p90 ?? p50);
  return (
    <td class={`wait ${level === null ? 'wait-never' : `wait-${level}`}`} title={title} data-p50={p50 ?? ''} data-p90={p90 ?? ''} data-words={durationRange(p50, p90)}>
      {p50 === null ? 'never' : <WaitWords p50={p50} p90={p90} />}
    </td>
  );
}

const kSteps = ['now', '< 15 min', '< 1 h', '< 4 h', '< 1 d', 'longer'];

export function WaitScale() {
  return (
    <ul class="wait-scale" aria-label="Colours of waits, by the p90">
      {kSteps.map((words, level) => (
        <li key={words} class={`wait-${level}`}>{words}</li>
      ))}
    </ul>
  );
}
