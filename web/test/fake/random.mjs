// Numbers by chance that are the same in every run (mulberry32).

export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    below: (most) => Math.floor(next() * most),
    pick: (list) => list[Math.floor(next() * list.length)],
    /** Log-normal around `median`. */
    spread: (median, sigma) => Math.round(median * Math.exp(sigma * (next() + next() + next() - 1.5) * 2)),
  };
}
