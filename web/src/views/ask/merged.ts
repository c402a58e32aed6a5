// The rankings of several clusters as one, by what each daemon ranks by (docs/api.md, "advise").
import type { AdviseAnswer, Objective, Strategy } from '../../api/ask_types';
import { length } from '../../words/durations';
import { phrase } from '../../words/say';

/** What another cluster's daemon answered. */
export interface OtherAnswer {
  cluster: string;
  advise: AdviseAnswer | null;
  error: string | null;
}

/** `own` alone where no other answered. Ranks are those of the whole. */
export function mergedAnswer(own: AdviseAnswer, others: OtherAnswer[]): AdviseAnswer {
  const answered = others.flatMap(({ cluster, advise }) => (advise && Array.isArray(advise.strategies) ? [{ cluster, advise }] : []));
  if (answered.length === 0) return own;
  const all = [{ cluster: own.meta.cluster, advise: own }, ...answered];
  const rows = all.flatMap(({ cluster, advise }) => advise.strategies.map((one) => ({ ...one, cluster })));
  const keyOf = keyFor(own.objective, rows.every((one) => one.cost !== null));
  const ranked = rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => compared(a.key, b.key))
    .map(({ row }, at) => ({ ...row, rank: at + 1 }));
  sayWhyFirst(ranked, own.objective);
  const rejected = all.flatMap(({ cluster, advise }) => (advise.rejected ?? []).map((row) => ({ ...row, cluster })));
  return { ...own, strategies: ranked, rejected };
}

/** What the first is, compared with the best of another cluster; its own reasons are of its cluster. */
function sayWhyFirst(ranked: Strategy[], objective: Objective): void {
  const first = ranked[0];
  const other = ranked.find((one) => one.cluster !== first?.cluster);
  if (!first || !other || objective === 'cost' || objective === 'deadline') return;
  const key = objective === 'start' ? 'wait_p50_seconds' : 'total_p50_seconds';
  const sooner = other[key] - first[key];
  if (sooner < 30) return;
  const values = { time: length(sooner), cluster: other.cluster ?? '' };
  const why = objective === 'start' ? phrase('starts {time} before the best of cluster {cluster}', values) : phrase('done {time} before the best of cluster {cluster}', values);
  ranked[0] = { ...first, reasons: [why, ...first.reasons] };
}

function compared(a: number[], b: number[]): number {
  for (const [at, value] of a.entries()) {
    const other = b[at] ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

function keyFor(objective: Objective, priced: boolean): (one: Strategy) => number[] {
  const price = (one: Strategy) => (priced ? one.cost ?? Infinity : one.gpu_hours);
  switch (objective) {
    case 'start':
      return (one) => [one.wait_p50_seconds, one.wait_p90_seconds, one.total_p50_seconds];
    case 'cost':
      return (one) => [price(one), one.total_p50_seconds, one.total_p90_seconds];
    case 'deadline':
      return (one) => (one.makes_deadline ? [0, price(one), one.total_p50_seconds] : [1, 1 - (one.deadline_chance ?? 0), one.total_p50_seconds]);
    default:
      return (one) => [one.total_p50_seconds, one.total_p90_seconds];
  }
}
