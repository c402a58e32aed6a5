// Counts, shares and bytes in words. GB is 10^9, GiB is 2^30.

const kGib = 2 ** 30;

/** "12,345"; "–" where nothing is known. */
export function grouped(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return Math.round(value).toLocaleString('en-US');
}

/** Up to `digits` decimals: "12.4", "12". */
export function decimal(value: number | null | undefined, digits = 1): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** A share of 1 as "83 %". */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  return `${Math.round(share * 100)} %`;
}

/** A GPU's memory as its maker writes it: "24 GiB", "48 GB". */
export function memory(bytes: number | null | undefined): string {
  if (!bytes) return '–';
  if (bytes % kGib === 0) return `${bytes / kGib} GiB`;
  if (bytes % 1e9 === 0) return `${bytes / 1e9} GB`;
  return `${gib(bytes)} GiB`;
}

/** "17.7 of 24 GiB". A card's memory may be given in GB as it is sold by, which are as many GiB. */
export function memoryUse(bytes: number, card: number): string {
  const sold = card % kGib !== 0 && card % 1e9 === 0;
  return `${gib(bytes)} of ${memory(sold ? (card / 1e9) * kGib : card)}`;
}

/** GiB with one decimal, without the unit. */
export function gib(bytes: number): string {
  return (bytes / kGib).toFixed(1);
}

/** "1 GPU", "4 GPUs". */
export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}
