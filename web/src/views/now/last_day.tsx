// How much of a GPU type was allocated in each hour of the last day: a line without an axis, and the mean in words.
import { percent } from '../../words/numbers';

const kHours = 24;
const kFewestHours = 6; // fewer say nothing of a day
const kHeight = 20; // of the drawing, in its own units; an hour is one unit wide

/** `shares`: of the known hours, the last of them is now. */
export function LastDay({ shares }: { shares: number[] }) {
  if (shares.length < kFewestHours) return <div class="day-place quiet">–</div>;
  const first = kHours - shares.length;
  const points = shares.map((share, at) => `${first + at} ${(kHeight * (1 - share)).toFixed(1)}`).join('L');
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return (
    <div class="day-place">
      <svg class="last-day" viewBox={`0 0 ${kHours - 1} ${kHeight}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={`M${points}`} />
      </svg>
      <span class="sub">{percent(mean)} allocated</span>
    </div>
  );
}
