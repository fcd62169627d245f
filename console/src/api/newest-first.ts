import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useList, useStill } from './lists.ts';
import { queryClient } from './queries.ts';

type Fetch<T> = Parameters<typeof useList<T>>[1];

/** Whoever is further down than this reads what stands there. Pixels. */
const DOWN_PX = 240;

function useIsDown(): boolean {
  const [is_down, setDown] = useState(false);
  useEffect(() => {
    const look = () => setDown(window.scrollY > DOWN_PX);
    look();
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  return is_down;
}

/** How many of the newest rows stand before one that is known; all of them where none is. */
function countNew<T>(newest: readonly T[], known: readonly T[], idOf: (row: T) => string): number {
  const ids = new Set(known.map(idOf));
  const at = newest.findIndex((each) => ids.has(idOf(each)));
  return at < 0 ? newest.length : at;
}

/**
 * A list, newest first, whose rows stay where they are while somebody reads further down or has loaded more of them: what
 * comes meanwhile is counted, and shown when they ask for it. `is_on` false: the order is another, and rows stay as they are.
 */
export function useNewestFirst<T>(
  key: readonly unknown[],
  fetch: Fetch<T>,
  idOf: (row: T) => string,
  is_on = true,
) {
  const list = useList<T>(key, fetch, { still: true });
  const is_down = useIsDown();
  const is_still = is_down || (list.data?.pages.length ?? 0) > 1;
  useStill(key, is_still);
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: async () => (await fetch(undefined)).data,
    enabled: is_on && is_still && list.isSuccess,
  }).data;
  const new_count = is_on && is_still && newest !== undefined ? countNew(newest, list.rows, idOf) : 0;
  const showNew = async () => {
    window.scrollTo({ top: 0 });
    await queryClient.resetQueries({ queryKey: key, exact: true });
  };
  return { ...list, new_count, has_more_new: new_count > 0 && new_count === newest?.length, showNew };
}
