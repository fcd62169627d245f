import { useSyncExternalStore } from 'react';
import type { Search } from './search.ts';

/** A list's filters under a name. */
export interface View {
  name: string;
  search: Search;
}

const MAX_VIEWS = 20;
const listeners = new Set<() => void>();
let read: { text: string; views: readonly View[] } = { text: '', views: [] };

const keyOf = (screen: string) => `purser.views.${screen}`;

/** The views that a stored text holds; what is damaged or foreign is left out. */
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

/** The views that were saved in this browser; shared as links, since the filters are in the address. */
export function useViews(screen: string): readonly View[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => {
      const text = localStorage.getItem(keyOf(screen)) ?? '[]';
      if (text !== read.text) read = { text, views: parseViews(text) };
      return read.views;
    },
  );
}

/** Keeps a view, in place of one of the same name; the oldest goes when there are too many. */
export function saveView(screen: string, view: View): void {
  const others = parseViews(localStorage.getItem(keyOf(screen)) ?? '[]').filter(
    (each) => each.name !== view.name,
  );
  localStorage.setItem(keyOf(screen), JSON.stringify([...others, view].slice(-MAX_VIEWS)));
  for (const each of listeners) each();
}

/** Forgets a view. */
export function removeView(screen: string, name: string): void {
  const others = parseViews(localStorage.getItem(keyOf(screen)) ?? '[]').filter((each) => each.name !== name);
  localStorage.setItem(keyOf(screen), JSON.stringify(others));
  for (const each of listeners) each();
}

/** Whether two searches ask for the same. */
export function isSameSearch(a: Search, b: Search): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}
