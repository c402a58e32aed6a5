// Keys for the whole page. Single letters do nothing while something is typed.
import { useEffect } from 'preact/hooks';
import { hashOf } from './route';
import type { View } from './route';

/** g and one of these goes to a view. */
export const kGo: Record<string, View> = { n: 'now', o: 'nodes', q: 'queue', h: 'history', u: 'group', a: 'accuracy', k: 'ask' };

const kPatienceMilliseconds = 1500;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

let searchBox: HTMLInputElement | null = null;

/** The field that "/" goes to; null takes it away. */
export function setSearchBox(field: HTMLInputElement | null): void {
  searchBox = field;
}

/** `jump` opens the field that finds jobs, nodes and users. */
export function useKeys(jump: () => void): void {
  useEffect(() => {
    let going = 0; // when g was pressed
    const pressed = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      if (key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        jump();
      } else if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) {
        going = 0;
      } else if (key === '/' || key === '?') {
        event.preventDefault();
        if (key === '/' && searchBox) searchBox.focus();
        else jump();
      } else if (Date.now() - going < kPatienceMilliseconds && key in kGo) {
        going = 0;
        window.location.hash = hashOf(kGo[key] ?? 'now');
      } else {
        going = key === 'g' ? Date.now() : 0;
      }
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}
