// What the GPUs of a type do now. A node in two partitions is in the groups of both, so groups are added up only where that is
// the whole type.
import type { GpuWaits, NodeGroup, ShapeWait } from '../../api/contract';

export interface Split {
  free: number; // for a job of one GPU
  kept: number; // free, and kept for a job or a reservation
  barred: number; // free, and not for a job of one GPU, though not known to be kept
  used: number;
  unavailable: number; // idle, and no job can take them
  known: boolean; // whether `used` has no kept ones in it
  waits: boolean; // a job of one GPU waits although some are free
  held: number; // of `kept` and `barred`, those that shorter jobs may have now
}

const kSoonSeconds = 30;

/** The wait is not "now", and it is known. */
export const isLate = (one: ShapeWait | undefined): boolean => one?.wait_p50_seconds != null && one.wait_p50_seconds >= kSoonSeconds;

/** `one`: the wait of a job of one GPU. `keptFor`: GPUs that are kept by the forecast, reserved ones may be among them. */
export function splitOf(gpu: GpuWaits, groups: NodeGroup[], one: ShapeWait | undefined, keptFor = 0): Split {
  const all = sumOf(gpu, groups);
  const free = all?.free ?? gpu.free;
  const waits = free > 0 && isLate(one);
  const rest = all ?? { promised: 0, used: Math.max(0, gpu.usable - gpu.free), unavailable: Math.max(0, gpu.total - gpu.usable) };
  const idle = rest.promised + free;
  const kept = waits ? Math.min(idle, Math.max(rest.promised, keptFor)) : rest.promised;
  return {
    free: waits ? 0 : free,
    kept,
    barred: waits ? idle - kept : 0,
    used: rest.used,
    unavailable: rest.unavailable,
    known: all !== null,
    waits,
    held: waits ? free : 0,
  };
}

/** The wait of a job of one GPU with a time limit of `limit` seconds. */
export const oneOf = (gpu: GpuWaits, limit: number): ShapeWait | undefined =>
  gpu.waits.find((wait) => wait.shape === 'one' && wait.time_limit_seconds === limit);

/** GPUs of all types that are free for shorter jobs alone. */
export const heldOf = (gpus: GpuWaits[], groups: NodeGroup[], limit: number): number =>
  gpus.reduce((sum, gpu) => sum + splitOf(gpu, groups, oneOf(gpu, limit)).held, 0);

function sumOf(gpu: GpuWaits, groups: NodeGroup[]): NodeGroup | null {
  const own = groups.filter((group) => group.gpu === gpu.gpu);
  const whole = own.find((group) => group.gpus === gpu.total);
  const [first, ...others] = own;
  if (whole || !first) return whole ?? null;
  const sum = { ...first };
  for (const key of ['gpus', 'free', 'used', 'promised', 'unavailable'] as const) {
    sum[key] = others.reduce((count, group) => count + group[key], first[key]);
  }
  return sum.gpus === gpu.total ? sum : null;
}
