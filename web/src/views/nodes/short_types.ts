// GPU types whose free GPUs are for short jobs alone: Nodes counts these as kept, as Now does.
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { Waits } from '../../api/contract';
import { kUsual, limitFor } from '../now/question';
import { isLate, oneOf } from '../now/split';

export interface ShortTypes {
  types: ReadonlySet<string>;
  limit: number; // seconds: a job of one GPU that is as long waits for them
}

export const ShortContext = createContext<ShortTypes>({ types: new Set(), limit: 0 });
export const useShort = (): ShortTypes => useContext(ShortContext);

export function useShortTypes(waits: Waits | null): ShortTypes {
  const limit = waits ? limitFor(waits.gpus, kUsual.hours) : 0;
  const late = (waits?.gpus ?? []).filter((gpu) => gpu.free > 0 && isLate(oneOf(gpu, limit))).map((gpu) => gpu.gpu);
  const names = late.join('\n');
  return useMemo(() => ({ types: new Set(names ? names.split('\n') : []), limit }), [names, limit]);
}
