// The best time to submit in one sentence, or that it is not known.
import type { History } from '../../api/contract';
import { duration } from '../../words/durations';
import { plural } from '../../words/numbers';

const hour = (value: number) => `${String(value).padStart(2, '0')}:00`;

export function bestTimeWords({ best_time: best, best_time_unknown: why }: Pick<History, 'best_time' | 'best_time_unknown'>): string {
  if (!best) return why === 'no_difference' ? 'No time of the week is clearly better for submitting than another.' : 'The best time to submit is not known yet: there is too little history.';
  const days = best.weekend ? 'Saturday and Sunday' : 'Monday to Friday';
  return `Best time to submit: ${days}, ${hour(best.hour_from)}–${hour(best.hour_to)}. The 90th percentile of the wait is ${duration(best.wait_p90_seconds)} then, and ${duration(best.usual_wait_p90_seconds)} over the whole week (${plural(best.jobs, 'job')}).`;
}

export function BestTime({ data }: { data: History }) {
  return <p class="lead" data-best-time={data.best_time ? 'known' : data.best_time_unknown ?? ''}>{bestTimeWords(data)}</p>;
}
