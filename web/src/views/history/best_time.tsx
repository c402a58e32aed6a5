// The best time to submit in one sentence, or that it is not known.
import type { History } from '../../api/contract';
import { waitLength } from '../../words/durations';
import { plural } from '../../words/numbers';
import { clockOffset } from '../../words/times';

const hour = (value: number) => `${String(value).padStart(2, '0')}:00`;

type Best = Pick<History, 'best_time' | 'best_time_unknown' | 'until' | 'utc_offset_seconds'>;

export function bestTimeWords({ best_time: best, best_time_unknown: why, until, utc_offset_seconds }: Best): string {
  if (!best) {
    return why === 'no_difference'
      ? 'No time of the week is clearly better for submitting than another.'
      : 'The best time to submit is not known yet: there is too little history.';
  }
  const days = best.weekend ? 'Saturday and Sunday' : 'Monday to Friday';
  const whose = clockOffset(until) === utc_offset_seconds ? '' : ' in the cluster’s time zone';
  const then = `The 90th percentile of the wait is ${waitLength(best.wait_p90_seconds)} then (${plural(best.jobs, 'job')})`;
  const usual = `${waitLength(best.usual_wait_p90_seconds)} over the whole week`;
  return `Best time to submit: ${days}, ${hour(best.hour_from)}–${hour(best.hour_to)}${whose}. ${then}, and ${usual}.`;
}

export function BestTime({ data }: { data: History }) {
  return <p class="lead">{bestTimeWords(data)}</p>;
}
