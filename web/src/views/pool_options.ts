// Choices of filters, from the rows that an answer has for every partition × GPU type.
import type { Option } from '../parts/filters';

export interface PoolKey {
  partition: string;
  gpu: string;
  gpu_name: string;
}

export function partitionOptions(pools: PoolKey[]): Option[] {
  const names = [...new Set(pools.map((pool) => pool.partition))].sort();
  return names.map((name) => ({ value: name, label: name }));
}

/** GPU types by name; rows without GPUs are no type. */
export function gpuOptions(pools: PoolKey[]): Option[] {
  const names = new Map(pools.filter((pool) => pool.gpu !== '').map((pool) => [pool.gpu, pool.gpu_name]));
  return [...names].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label));
}

/** What the link of a row says after the partition: rows of one partition differ by their GPU type. */
export function restOfLabel(pool: PoolKey, chosen: boolean): string {
  const gpu = pool.gpu === '' ? 'no GPUs' : pool.gpu_name.slice(0, 60);
  return chosen ? `, ${gpu}, shown; show all` : `, ${gpu}`;
}
