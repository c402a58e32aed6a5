// The best time to submit in one sentence, or that it is not known.
import type { HistoryAnswer } from '../../api/types';
import { duration } from '../../words/durations';
import { say, sayCount } from '../../words/say';

const hour = (value: number) => `${String(value).padStart(2, '0')}:00`;

export function bestTimeWords({ best_time: best, best_time_unknown: why }: Pick<HistoryAnswer, 'best_time' | 'best_time_unknown'>): string {
  if (!best) return say(why === 'no_difference' ? 'best.noDifference' : 'best.fewJobs');
  const values = { from: hour(best.hour_from), to: hour(best.hour_to), wait: duration(best.wait_p90_seconds), usual: duration(best.usual_wait_p90_seconds), jobs: sayCount('count.job', best.jobs) };
  return say(best.weekend ? 'best.weekend' : 'best.weekdays', values);
}

export function BestTime({ data }: { data: HistoryAnswer }) {
  return <p class="lead" data-best-time={data.best_time ? 'known' : data.best_time_unknown ?? ''}>{bestTimeWords(data)}</p>;
}
