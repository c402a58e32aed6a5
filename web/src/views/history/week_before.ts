// The same a week before, as a thin line behind: where it is known, and `part`, which the chart shows, is at most two weeks.
import type { HistoryStep } from '../../api/contract';
import type { Line } from '../../charts/plot';
import type { Part } from '../../parts/range';

const kWeek = 7 * 86400;

export function weekBefore(series: HistoryStep[], rows: HistoryStep[], part: Part | null, key: 'pending' | 'busy_gpus'): Line[] {
  if (part === null || part[1] - part[0] > 2 * kWeek) return [];
  const at = (time: number) => series.find((one) => one.time <= time && one.time + one.seconds > time)?.[key] ?? null;
  const values = rows.map((row) => at(row.time - kWeek));
  return values.some((value) => value !== null) ? [{ name: 'a week before', token: '--text-3', values, faint: true }] : [];
}
