// Moments (unix seconds) as a person reads them, by one clock for all of a view: the browser's, or the cluster's.

const kDay = 86400;
const kFarDays = 180; // from then on a day without its year may be of another

let clusterOffset: number | null = null; // seconds east of UTC; null: the browser's clock

/** From now on moments are told by the clock `offset` seconds east of UTC, or with null by the browser's. */
export function setClock(offset: number | null): void {
  clusterOffset = offset;
}

/** How far the clock in use is ahead of UTC at `unix`. */
export function clockOffset(unix: number): number {
  return clusterOffset ?? browserOffset(unix);
}

export const browserOffset = (unix: number): number => -60 * new Date(unix * 1000).getTimezoneOffset();

type Words = (unix: number, offset?: number) => string;

const format = (options: Intl.DateTimeFormatOptions): Words => {
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  return (unix, offset = clockOffset(unix)) => made.format(new Date((unix + offset) * 1000));
};

const clock = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekday = format({ weekday: 'short' });
const dayMonth = format({ day: 'numeric', month: 'short' });
const dayMonthYear = format({ dateStyle: 'medium' });
const whole = format({ dateStyle: 'medium', timeStyle: 'short' });
const dayOf = (unix: number) => Math.floor((unix + clockOffset(unix)) / kDay);

/** "14:05" on the day of `now`, "Tue 14:05" within six days, else "24 Nov 14:05", and with its year where that is far away. */
export function clockTime(unix: number | null | undefined, now: number): string {
  if (unix === null || unix === undefined) return '–';
  if (dayOf(unix) === dayOf(now)) return clock(unix);
  if (Math.abs(unix - now) < 6 * kDay) return `${weekday(unix)} ${clock(unix)}`;
  return `${Math.abs(unix - now) < kFarDays * kDay ? dayMonth(unix) : dayMonthYear(unix)} ${clock(unix)}`;
}

/** Day, month, year and time. */
export function fullTime(unix: number | null | undefined): string {
  return unix === null || unix === undefined ? 'not known' : whole(unix);
}

/** "14:10 – 15:40"; the day once where both are of it. */
export function clockRange(from: number, to: number, now: number): string {
  const end = clockTime(to, now);
  return dayOf(from) === dayOf(to) ? `${clockTime(from, now)} – ${clock(to)}` : `${clockTime(from, now)} – ${end}`;
}

/** "24 Nov" as the calendar `offset` seconds east of UTC has it. */
export const clusterDay = (unix: number, offset: number): string => dayMonth(unix, offset);

/** "Tue" by the clock `offset` seconds east of UTC. */
export const shortDay = (unix: number, offset: number): string => weekday(unix, offset);

/** "Mon 24 Nov 14:00" by the clock `offset` seconds east of UTC. */
export const clusterTime = (unix: number, offset: number): string =>
  `${weekday(unix, offset)} ${dayMonth(unix, offset)} ${clock(unix, offset)}`;

/** "Europe/Berlin" */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'not known';

const kFirstMonday = 4 * kDay;

/** The Monday of a week that starts at `unix` by the cluster's clock, as midnight UTC. Whatever that clock said then, it is the nearest. */
export const mondayOf = (unix: number): number => Math.round((unix - kFirstMonday) / (7 * kDay)) * 7 * kDay + kFirstMonday;

/** "24 Nov" */
export const weekDay = (start: number): string => clusterDay(mondayOf(start), 0);

/** "24 Nov", with "so far" while the week from `start` is not over at `until`. */
export function weekWords(start: number, until: number): string {
  return weekDay(start) + (start + 7 * kDay > until ? ', so far' : '');
}

/** A sentence where the newest week, from `start`, is not over; else null. */
export function soFar(start: number, until: number): string | null {
  return start + 7 * kDay > until && Number.isFinite(start)
    ? `The week of ${weekDay(start)} is not over: its point is of what is known so far.`
    : null;
}

/** Monday first, as the API counts weekdays. */
export const kWeekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
