// The views. Now comes with the page; the others are loaded when they are opened.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { View } from './parts/route';
import { NowView } from './views/now/now_view';

type Shown = ComponentType<{ params: URLSearchParams }>;

export const titleOf = (view: View): string => view.charAt(0).toUpperCase() + view.slice(1);

const kLoads: Record<Exclude<View, 'now'>, () => Promise<Shown>> = {
  nodes: () => import('./views/nodes/nodes_view').then((module) => module.NodesView),
  queue: () => import('./views/queue/queue_view').then((module) => module.QueueView),
  history: () => import('./views/history/history_view').then((module) => module.HistoryView),
  group: () => import('./views/group/group_view').then((module) => module.GroupView),
  accuracy: () => import('./views/accuracy/accuracy_view').then((module) => module.AccuracyView),
  ask: () => import('./views/ask/ask_view').then((module) => module.AskView),
};

const loaded = new Map<View, Shown>([['now', NowView]]);

/** The view, or null until it has come; `failed` where it does not come, which `again` tries, as does each new `opened`. */
export function useView(view: View, opened: number): { View: Shown | null; failed: boolean; again: () => void } {
  const [, setCome] = useState(0);
  const [tries, setTries] = useState(0);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (view === 'now' || loaded.has(view)) return;
    setFailed(false);
    kLoads[view]().then(
      (one) => {
        loaded.set(view, one);
        setCome((count) => count + 1);
      },
      () => setFailed(true),
    );
  }, [view, opened, tries]);
  return { View: loaded.get(view) ?? null, failed, again: () => setTries((count) => count + 1) };
}
