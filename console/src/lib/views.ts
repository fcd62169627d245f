import { useSyncExternalStore } from 'react';
import type { Search } from './search.ts';

/** A named set of a list's filters. */
export interface View {
  name: string;
  search: Search;
}

const MAX_VIEWS = 20;
const listeners = new Set<() => void>();
let read: { text: string; views: readonly View[] } = { text: '', views: [] };

/** The owner of views, and their list. */
export interface ViewsOf {
  workspace_id: string;
  principal_id: string;
  screen: string;
}

const keyOf = ({ workspace_id, principal_id, screen }: ViewsOf) =>
  `purser.views.${workspace_id}.${principal_id}.${screen}`;

/** Reads stored views. Damaged and unknown entries are left out. */
function parseViews(text: string): View[] {
  try {
    const found: unknown = JSON.parse(text);
    if (!Array.isArray(found)) return [];
    return found
      .filter(
        (each): each is View =>
          typeof each?.name === 'string' &&
          typeof each.search === 'object' &&
          each.search !== null &&
          Object.values(each.search).every((value) => typeof value === 'string'),
      )
      .slice(0, MAX_VIEWS);
  } catch {
    return [];
  }
}

/** The person's views, saved in this browser. They are shared as links, since the URL has the filters. */
export function useViews(of: ViewsOf): readonly View[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => {
      const text = localStorage.getItem(keyOf(of)) ?? '[]';
      if (text !== read.text) read = { text, views: parseViews(text) };
      return read.views;
    },
  );
}

/** Saves a view and replaces one of the same name. Beyond the maximum the oldest is removed. */
export function saveView(of: ViewsOf, view: View): void {
  const others = parseViews(localStorage.getItem(keyOf(of)) ?? '[]').filter(
    (each) => each.name !== view.name,
  );
  localStorage.setItem(keyOf(of), JSON.stringify([...others, view].slice(-MAX_VIEWS)));
  for (const each of listeners) each();
}

export function removeView(of: ViewsOf, name: string): void {
  const others = parseViews(localStorage.getItem(keyOf(of)) ?? '[]').filter((each) => each.name !== name);
  localStorage.setItem(keyOf(of), JSON.stringify(others));
  for (const each of listeners) each();
}

/** True if two searches have the same parameters. */
export function isSameSearch(a: Search, b: Search): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}
