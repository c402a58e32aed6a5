// What the browser remembers between visits. Storage may be refused (private windows, policies):
// then nothing is remembered and everything else works.

const kPrefix = 'gpuadvise.';

type Store = 'localStorage' | 'sessionStorage'; // of the browser, of the tab

export function recall(key: string, store: Store = 'localStorage'): string | null {
  try {
    return window[store].getItem(kPrefix + key);
  } catch {
    return null;
  }
}

/** Null forgets it. */
export function remember(key: string, value: string | null, store: Store = 'localStorage'): void {
  try {
    if (value === null) window[store].removeItem(kPrefix + key);
    else window[store].setItem(kPrefix + key, value);
  } catch {
    // refused or full: the page goes on without
  }
}
