// What the browser remembers between visits. Storage may be refused (private windows, policies):
// then nothing is remembered and everything else works.

const kPrefix = 'gpuadvise.';

export function recall(key: string): string | null {
  try {
    return window.localStorage.getItem(kPrefix + key);
  } catch {
    return null;
  }
}

/** Null forgets it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) window.localStorage.removeItem(kPrefix + key);
    else window.localStorage.setItem(kPrefix + key, value);
  } catch {
    // refused or full: the page goes on without
  }
}
