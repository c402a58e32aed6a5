// Lengths of time as people read them: "now", "40 s", "25 min", "3 h 10", "2 d 4 h".
// The same steps as the client's tables, with "min" where they write "m".

const kMinute = 60;
const kHour = 3600;
const kDay = 86400;

/** Seconds in words; "–" where nothing is known. Negative is "now". */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  if (seconds < 30) return 'now';
  return length(seconds);
}

/** The same for something that lasts: 10 seconds are "10 s", not "now". */
export function length(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  const whole = Math.round(Math.max(0, seconds));
  if (whole < kMinute) return `${whole} s`;
  const minutes = Math.round(whole / kMinute);
  if (minutes < 60) return `${minutes} min`;
  if (whole < 2 * kDay) return hoursAndMinutes(minutes);
  const hours = Math.round(whole / kHour);
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The same for a wait in a sentence or under a name: "under a minute", never "now". */
export function waitLength(seconds: number | null | undefined): string {
  return seconds !== null && seconds !== undefined && seconds < kMinute ? 'under a minute' : length(seconds);
}

/** Of what a program does: "15 µs", "2.5 ms", "11 s". */
export function workTime(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '–';
  const [scale, unit] = seconds < 1e-3 ? [1e6, 'µs'] : seconds < 1 ? [1e3, 'ms'] : [1, 's'];
  return seconds >= kMinute ? length(seconds) : `${Number((seconds * scale).toPrecision(2))} ${unit}`;
}

function hoursAndMinutes(minutes: number): string {
  const rest = minutes % 60;
  const hours = Math.floor(minutes / 60);
  return rest === 0 ? `${hours} h` : `${hours} h ${String(rest).padStart(2, '0')}`;
}

/** "25 min – 1 h 10", or one word where both ends read the same. */
export function durationRange(p50: number | null | undefined, p90: number | null | undefined): string {
  const low = duration(p50);
  const high = duration(p90);
  return low === high || high === '–' ? low : `${low} – ${high}`;
}

/** At most four characters, for cells of a heat map: "0", "40s", "25m", "3h", "2d". */
export function shortDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '';
  if (seconds < 30) return '0';
  if (seconds < kMinute) return `${Math.round(seconds)}s`;
  if (seconds < 59.5 * kMinute) return `${Math.round(seconds / kMinute)}m`;
  if (seconds < 2 * kDay - kHour / 2) {
    const hours = seconds / kHour;
    return hours < 9.95 && hours % 1 >= 0.05 && hours % 1 < 0.95 ? `${hours.toFixed(1)}h` : `${Math.round(hours)}h`;
  }
  return `${Math.round(seconds / kDay)}d`;
}

/** "4 s ago", "3 min ago". */
export function ago(seconds: number): string {
  return `${length(seconds)} ago`;
}

/** Steps of the wait scale, 0 (now) to 5 (over a day), as the colours of style/tokens.css count. */
export function waitLevel(seconds: number | null | undefined): number | null {
  if (seconds === null || seconds === undefined) return null;
  const bounds = [60, 15 * kMinute, kHour, 4 * kHour, kDay];
  const level = bounds.findIndex((bound) => seconds < bound);
  return level < 0 ? bounds.length : level;
}

/** A time limit as a column header: "1 h", "24 h". */
export function limit(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return 'no limit';
  return seconds <= 2 * kDay && seconds % kHour === 0 ? `${seconds / kHour} h` : length(seconds);
}
