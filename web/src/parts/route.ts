// The address behind the hash: "#/queue?state=pending&offset=100" is a view and what it shows, so
// that every state of the page has an address.
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

export const kViews = ['now', 'nodes', 'queue', 'history', 'accuracy', 'ask'] as const;
export type View = (typeof kViews)[number];

export interface Route {
  view: View;
  params: URLSearchParams;
}

/** An unknown view is Now; parameters stay as they are. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const view = kViews.find((name) => name === path.replace(/\/+$/, '')) ?? 'now';
  return { view, params: new URLSearchParams(query) };
}

/** "#/nodes?search=gpu1"; empty parameters are left out. */
export function hashOf(view: View, params: Record<string, string | number | null | undefined>): string {
  const kept = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '') kept.set(key, String(value));
  }
  const query = kept.toString();
  return `#/${view}${query ? `?${query}` : ''}`;
}

/** `path` with what of `params` is not empty, for a request. */
export function requestOf(path: string, params: Record<string, string | number | null | undefined>): string {
  return path + hashOf('now', params).slice('#/now'.length);
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

/** Changes some parameters of the shown view, without an entry in the history of the browser. */
export function setParams(changes: Record<string, string | number | null>): void {
  const route = parseRoute(window.location.hash);
  const next = { ...Object.fromEntries(route.params), ...changes };
  window.location.replace(hashOf(route.view, next));
}

/** A whole number of 0 or more, else `otherwise`. */
export function numberParam(params: URLSearchParams, name: string, otherwise: number): number {
  const value = params.get(name) ?? '';
  return /^\d{1,9}$/.test(value) ? Number(value) : otherwise;
}
