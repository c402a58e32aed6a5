// Moments (unix seconds) as a person reads them, in the browser's time zone.

const kDay = 86400;

const format = (options: Intl.DateTimeFormatOptions) => {
  const made = new Intl.DateTimeFormat('en-GB', options);
  return (moment: Date): string => made.format(moment);
};

const clock = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekday = format({ weekday: 'short' });
const dayMonth = format({ day: 'numeric', month: 'short' });
const clusterDayMonth = format({ day: 'numeric', month: 'short', timeZone: 'UTC' });
const clusterWeekday = format({ weekday: 'short', timeZone: 'UTC' });
const whole = format({ dateStyle: 'medium', timeStyle: 'short' });

const date = (unix: number) => new Date(unix * 1000);

/** "14:05" on the day of `now`, "Tue 14:05" within six days, else "24 Nov 14:05". */
export function clockTime(unix: number | null | undefined, now: number): string {
  if (unix === null || unix === undefined) return '–';
  const moment = date(unix);
  if (moment.toDateString() === date(now).toDateString()) return clock(moment);
  if (Math.abs(unix - now) < 6 * kDay) return `${weekday(moment)} ${clock(moment)}`;
  return `${dayMonth(moment)} ${clock(moment)}`;
}

/** Day, month, year and time, for titles. */
export function fullTime(unix: number | null | undefined): string {
  return unix === null || unix === undefined ? 'not known' : whole(date(unix));
}

/** "24 Nov" as the cluster's calendar has it, `offset` seconds east of UTC. */
export function clusterDay(unix: number, offset: number): string {
  const moment = new Date((unix + offset) * 1000);
  return clusterDayMonth(moment);
}

/** "Mon 24 Nov 14:00" in the cluster's time zone. */
export function clusterTime(unix: number, offset: number): string {
  const moment = new Date((unix + offset) * 1000);
  return `${clusterWeekday(moment)} ${clusterDay(unix, offset)} ${two(moment.getUTCHours())}:${two(moment.getUTCMinutes())}`;
}

/** "Europe/Berlin": where moments are told that are not said to be the cluster's. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'not known';

/** "24 Nov", with "so far" while that week is not over at `until`; `start` and `until` as clusterDay has them. */
export function weekWords(start: number, offset: number, until: number): string {
  return clusterDay(start, offset) + (start + 7 * kDay > until ? ', so far' : '');
}

/** A sentence where the newest week, from `start`, is not over; else null. */
export function soFar(start: number, offset: number, until: number): string | null {
  return start + 7 * kDay > until && Number.isFinite(start) ? `The week of ${clusterDay(start, offset)} is not over: its point is of what is known so far.` : null;
}

const two = (value: number) => String(value).padStart(2, '0');

/** Monday first, as the API counts weekdays. */
export const kWeekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
