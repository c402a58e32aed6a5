// The address behind the hash: "#/queue?state=pending&offset=100" is a view and what it shows, so
// that every state of the page has an address.
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

export const kViews = ['now', 'nodes', 'queue', 'history', 'group', 'accuracy', 'ask'] as const;
export type View = (typeof kViews)[number];

export interface Route {
  view: View;
  params: URLSearchParams;
}

export type Params = Record<string, string | number | null | undefined>;

// What a link to another view takes along: by which clock, how much time charts show, and how the page looks.
const kKept = ['clock', 'range', 'wall', 'rotate'];
const kKeptOnWall = [...kKept, 'map', 'by']; // views take turns there

/** An unknown view is Now; parameters stay as they are. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const view = kViews.find((name) => name === path.replace(/\/+$/, '')) ?? 'now';
  return { view, params: new URLSearchParams(query) };
}

/** `path` with what of `params` is not empty, for a request. */
export function requestOf(path: string, params: Params): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '') given.set(key, String(value));
  }
  const query = given.toString();
  return path + (query ? `?${query}` : '');
}

/** "#/nodes?search=gpu1"; empty parameters are left out. */
export function hashOf(view: View, params: Params = {}): string {
  const shown = typeof window === 'undefined' ? new URLSearchParams() : parseRoute(window.location.hash).params;
  const keys = shown.get('wall') === '1' ? kKeptOnWall : kKept;
  const kept = Object.fromEntries(keys.map((key) => [key, shown.get(key)]));
  return requestOf(`#/${view}`, { ...kept, ...params });
}

export function useRoute(): Route {
  const [hash, setHash] = useState(window.location.hash);
  // Before the page is painted: no change of the address falls between the look and the listener.
  useLayoutEffect(() => {
    const changed = () => setHash(window.location.hash);
    window.addEventListener('hashchange', changed);
    return () => window.removeEventListener('hashchange', changed);
  }, []);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** Changes some parameters of the shown view; Back undoes it, unless it is part of the change before (typing, paging to what is there). */
export function setParams(changes: Params, { replace = false } = {}): void {
  const route = parseRoute(window.location.hash);
  const next = hashOf(route.view, { ...Object.fromEntries(route.params), ...changes });
  if (replace) window.location.replace(next);
  else window.location.hash = next;
}

/** A whole number of 0 or more, else `otherwise`. */
export function numberParam(params: URLSearchParams, name: string, otherwise: number): number {
  const value = params.get(name) ?? '';
  return /^\d{1,10}$/.test(value) ? Number(value) : otherwise;
}
