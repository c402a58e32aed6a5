// GPU types whose free GPUs are for short jobs alone: no view counts these as free, as Now does not.
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { useAnswer } from '../live/live';
import type { Waits } from '../api/contract';
import { kUsual, limitFor } from './now/question';
import { isLate, oneOf } from './now/split';

const kRestSeconds = 60;

export interface ShortTypes {
  types: ReadonlySet<string>;
  limit: number; // seconds: a job of one GPU that is as long waits for them
}

export const ShortContext = createContext<ShortTypes>({ types: new Set(), limit: 0 });
export const useShort = (): ShortTypes => useContext(ShortContext);

/** And whether they are known, or are not to be had. */
export function useShortTypes(): [ShortTypes, boolean] {
  const { data: waits, error } = useAnswer<Waits>('v1/waits', kRestSeconds);
  const limit = waits ? limitFor(waits.gpus, kUsual.hours) : 0;
  const late = (waits?.gpus ?? []).filter((gpu) => gpu.free > 0 && isLate(oneOf(gpu, limit))).map((gpu) => gpu.gpu);
  const names = late.join('\n');
  const short = useMemo(() => ({ types: new Set(names ? names.split('\n') : []), limit }), [names, limit]);
  return [short, waits !== null || error !== null];
}
