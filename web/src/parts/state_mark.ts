// The state of the data in the title and icon of the page: a tab in the background shows it, too.
import { useEffect } from 'preact/hooks';
import { conditionOf } from '../live/age';
import type { Condition } from '../live/age';
import { useLive } from '../live/live';
import { titleOf } from '../views';
import type { View } from './route';

const kWords: Partial<Record<Condition, string>> = { stale: 'old data', lost: 'no connection', starting: 'starting' };
const kColours: Partial<Record<Condition, string>> = { stale: '#d98200', lost: '#c62f26', starting: '#d98200' };
const kWell = '#1d5bb8';
const kMark = (colour: string, broken: boolean) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="${colour}"><rect x="1" y="11" width="4" height="8" rx="1"/>` +
  (broken
    ? '<rect x="8" y="15" width="4" height="4" rx="1"/><rect x="8" y="1" width="4" height="10" rx="1"/>'
    : '<rect x="8" y="1" width="4" height="18" rx="1"/>') +
  `<rect x="15" y="6" width="4" height="13" rx="1"/></svg>`;

export function useStateMark(view: View): void {
  const live = useLive();
  const condition = conditionOf(live);
  const cluster = live.snapshot?.cluster?.slice(0, 60) ?? '';
  useEffect(() => {
    const words = kWords[condition];
    document.title = `${words ? `(${words}) ` : ''}${titleOf(view)} · ${cluster || 'gpuadvise'}`;
  }, [view, cluster, condition]);
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon) icon.href = `data:image/svg+xml,${encodeURIComponent(kMark(kColours[condition] ?? kWell, condition in kWords))}`;
  }, [condition]);
}
