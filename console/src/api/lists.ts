import type { PagePromise } from '@purser/sdk';
import { hashKey, type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { type PlainPage, withFirstPage } from '../lib/pages.ts';
import { pin } from './live.ts';
import { queryClient } from './queries.ts';

/** Query parameters of one page. */
export interface PageQuery {
  limit: number;
  cursor: string | undefined;
}

export type FetchPage<T> = (page: PageQuery) => PagePromise<T> | Promise<PlainPage<T>>;

/** A small first page appears quickly. People who load more want many rows. */
export const FIRST_PAGE: PageQuery = { limit: 50, cursor: undefined };
const NEXT_LIMIT = 200;

/** The service may return empty pages while it searches. After this many the person has to continue the search. */
const MAX_EMPTY_PAGES = 20;

/** Scrolled further down than this, the person reads older rows. Pixels. */
const SCROLLED_DOWN_PX = 240;

type Pages<T> = readonly PlainPage<T>[];
type Change<T> = (pages: Pages<T>) => PlainPage<T>[];
type Loaded<T> = InfiniteData<PlainPage<T>, string | undefined>;

/** Ways in which a list with several loaded pages follows changes. */
export type Mode<T> =
  /** Refetches the first page and merges it into the loaded rows. */
  | { mode: 'first'; idOf: (row: T) => string }
  /**
   * Counts new rows until the person asks for them, also while they have scrolled down a single page. With
   * `is_newest_first: false` no row is new.
   */
  | { mode: 'counted'; idOf: (row: T) => string; is_newest_first?: boolean }
  /** Applies the change that `catchUp` fetches, for rows that can appear anywhere. */
  | { mode: 'caught-up'; catchUp: () => Promise<Change<T>> };

/**
 * A list of the API, page by page. `key` identifies it with all its filters; its first word decides which changes
 * invalidate it. No mode fetches all loaded pages again, and rows never move while somebody reads them. `patch` changes
 * loaded rows.
 */
export function useList<T>(key: readonly unknown[], fetch: FetchPage<T>, follow: Mode<T>) {
  const list = usePages<T>(key, fetch);
  const is_counted = follow.mode === 'counted';
  const is_down = useIsScrolledDown(is_counted);
  const is_pinned = is_down || (list.data?.pages.length ?? 0) > 1;
  const hash = hashKey(key);
  useEffect(() => (is_pinned ? pin(hash) : undefined), [is_pinned, hash]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the hash identifies the key
  const patch = useCallback(
    (change: Change<T>) => {
      queryClient.setQueryData<Loaded<T>>(key, (before) => before && withPages(change(before.pages)));
    },
    [hash],
  );
  useQuery({
    queryKey: [...key, 'catch-up'],
    enabled: !is_counted && is_pinned && list.isSuccess,
    // The loaded pages are fresh at first.
    initialData: 0,
    queryFn: async () => {
      const change = await changeOf(fetch, follow);
      // A page that is still loading would overwrite the change.
      await queryClient
        .getQueryCache()
        .find({ queryKey: key, exact: true })
        ?.promise?.catch(() => {});
      patch(change);
      return Date.now();
    },
  });
  const counts_new = is_counted && follow.is_newest_first !== false && is_pinned;
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    enabled: counts_new && list.isSuccess,
    queryFn: async () => (await fetch(FIRST_PAGE)).data,
  }).data;
  const new_count = counts_new && newest !== undefined ? countNew(newest, list.rows, follow.idOf) : 0;
  return {
    ...list,
    patch,
    new_count,
    has_more_new: new_count > 0 && new_count === newest?.length,
    showNew: async () => {
      window.scrollTo({ top: 0 });
      await queryClient.resetQueries({ queryKey: key, exact: true });
    },
  };
}

/** Loads pages on demand. After the first page nothing is refetched automatically, since that would fetch all pages. */
function usePages<T>(key: readonly unknown[], fetch: FetchPage<T>) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam: cursor }): Promise<PlainPage<T>> => {
      const { data, next_cursor } = await fetch(
        cursor === undefined ? FIRST_PAGE : { limit: NEXT_LIMIT, cursor },
      );
      return { data, next_cursor };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // After a change of filters the old rows stay until the new ones have loaded.
    placeholderData: (before) => before,
    refetchOnMount: hasOnePage,
    refetchOnWindowFocus: false,
    refetchOnReconnect: hasOnePage,
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const is_searching = rows.length === 0 && hasNextPage && (data?.pages.length ?? 0) < MAX_EMPTY_PAGES;
  const fetches_next = is_searching && !isFetchingNextPage && !query.isError;
  useEffect(() => {
    if (fetches_next) void fetchNextPage();
  }, [fetches_next, fetchNextPage]);
  return {
    ...query,
    rows,
    isPending: query.isPending || (is_searching && !query.isError),
    // Loaded rows stay if a later request fails.
    isSuccess: data !== undefined && !is_searching,
  };
}

const hasOnePage = ({ state }: { state: { data: { pages: readonly unknown[] } | undefined } }) =>
  (state.data?.pages.length ?? 0) <= 1;

async function changeOf<T>(fetch: FetchPage<T>, follow: Mode<T>): Promise<Change<T>> {
  if (follow.mode === 'caught-up') return follow.catchUp();
  const first = await fetch(FIRST_PAGE);
  return (pages) => withFirstPage(pages, first, follow.idOf);
}

/** The number of newest rows above the first known one. All of them if none is known. */
function countNew<T>(newest: readonly T[], known: readonly T[], idOf: (row: T) => string): number {
  const ids = new Set(known.map(idOf));
  const at = newest.findIndex((each) => ids.has(idOf(each)));
  return at < 0 ? newest.length : at;
}

function useIsScrolledDown(is_on: boolean): boolean {
  const [is_down, setDown] = useState(false);
  useEffect(() => {
    if (!is_on) return;
    const look = () => setDown(window.scrollY > SCROLLED_DOWN_PX);
    look();
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, [is_on]);
  return is_down;
}

/** Each page is fetched with the cursor of the previous one. */
const withPages = <T>(pages: PlainPage<T>[]): Loaded<T> => ({
  pages,
  pageParams: pages.map((_, i) => pages[i - 1]?.next_cursor ?? undefined),
});
