// Light or dark: the system's choice, unless the reader has made one, which is remembered.
import { createContext } from 'preact';
import { flushSync } from 'preact/compat';
import { useContext, useEffect, useState } from 'preact/hooks';
import { recall, remember } from './stored';

export type Theme = 'light' | 'dark';

const dark = window.matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | null {
  const stored = recall('theme');
  return stored === 'light' || stored === 'dark' ? stored : null;
}

const system = (): Theme => (dark.matches ? 'dark' : 'light');

/** Sets the page's theme; null is the system's. */
export function applyTheme(theme: Theme | null = chosen()): void {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export const ThemeContext = createContext<Theme>('light');

/** Charts draw with the theme's colours and must be drawn anew when it changes. */
export const useThemeName = (): Theme => useContext(ThemeContext);

/** The theme that is shown, and the switch to the other one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(chosen() ?? system());
  useEffect(() => {
    const changed = () => setTheme(chosen() ?? system());
    // Paper is light, and so are the charts on it.
    const print = () => {
      applyTheme('light');
      flushSync(() => setTheme('light'));
    };
    const printed = () => {
      applyTheme();
      changed();
    };
    dark.addEventListener('change', changed);
    window.addEventListener('beforeprint', print);
    window.addEventListener('afterprint', printed);
    return () => {
      dark.removeEventListener('change', changed);
      window.removeEventListener('beforeprint', print);
      window.removeEventListener('afterprint', printed);
    };
  }, []);
  const flip = () => {
    const next: Theme = theme === 'dark' ? 'light' : 'dark';
    const kept = next === system() ? null : next;
    remember('theme', kept);
    applyTheme(kept);
    setTheme(next);
  };
  return [theme, flip];
}
