import type { PagePromise } from '@purser/sdk';
import { hashKey, type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { type PlainPage, withFirstPage } from '../lib/pages.ts';
import { keepStill } from './live.ts';
import { queryClient } from './queries.ts';

/**
 * A page may end without a row that fits before all is looked at. So many are looked through by themselves; then it is
 * the person who goes on.
 */
const MAX_EMPTY_PAGES = 20;

/** The first page is there at once; whoever asks for more wants many. What is longer than a page stays still. */
const FIRST_PAGE = 50;
const NEXT_PAGE = 200;
export const pageLimit = (cursor: string | undefined) => (cursor === undefined ? FIRST_PAGE : NEXT_PAGE);

type Fetch<T> = (cursor: string | undefined) => PagePromise<T> | Promise<PlainPage<T>>;
type Loaded<T> = InfiniteData<PlainPage<T>, string | undefined>;

/**
 * A list of the API, page by page. `key` names it and all its filters; its first word decides what makes it old. `fetch`
 * is asked with the cursor of each page. `still`: once there is more than one page it is not fetched again by itself,
 * since that would fetch them all; what changed meanwhile is told when the window comes back.
 */
export function useList<T>(
  key: readonly unknown[],
  fetch: Fetch<T>,
  options: { enabled?: boolean; still?: boolean } = {},
) {
  const { enabled = true, still = false } = options;
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam }): Promise<PlainPage<T>> => {
      const { data, next_cursor } = await fetch(pageParam);
      return { data, next_cursor };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // Other filters: the rows before stay until the new ones are there.
    placeholderData: (before) => before,
    enabled,
    ...(still ? { refetchOnMount: isShort, refetchOnWindowFocus: false, refetchOnReconnect: isShort } : {}),
  });
  const { data } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const is_looking = rows.length === 0 && hasNextPage && (query.data?.pages.length ?? 0) < MAX_EMPTY_PAGES;
  const looks_on = is_looking && !isFetchingNextPage && !query.isError;
  useEffect(() => {
    if (looks_on) void fetchNextPage();
  }, [looks_on, fetchNextPage]);
  return {
    ...query,
    rows,
    isPending: query.isPending || (is_looking && !query.isError),
    // What was loaded stays where a further page, or a later look, failed.
    isSuccess: data !== undefined && !is_looking,
  };
}

const isShort = ({ state }: { state: { data: { pages: readonly unknown[] } | undefined } }) =>
  (state.data?.pages.length ?? 0) <= 1;

/** Keeps a query as it is, whatever changes, while somebody reads what it gave. */
export function useStill(key: readonly unknown[], is_still: boolean): void {
  const hash = hashKey(key);
  useEffect(() => (is_still ? keepStill(hash) : undefined), [is_still, hash]);
}

/**
 * A list whose loaded pages stay, however many they are: at a change `catchUp` alone is asked what became of them, in a
 * number of requests that does not grow with the list.
 */
export function useCaughtUp<T>(
  key: readonly unknown[],
  fetch: Fetch<T>,
  catchUp: () => Promise<(pages: readonly PlainPage<T>[]) => PlainPage<T>[]>,
) {
  const list = useList<T>(key, fetch, { still: true });
  const hash = hashKey(key);
  const is_long = (list.data?.pages.length ?? 0) > 1;
  useStill(key, is_long);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the hash stands for the key
  const patch = useCallback(
    (change: (pages: readonly PlainPage<T>[]) => PlainPage<T>[]) => {
      queryClient.setQueryData<Loaded<T>>(key, (before) => before && withPages(change(before.pages)));
    },
    [hash],
  );
  useQuery({
    queryKey: [...key, 'catch-up'],
    enabled: is_long && list.isSuccess,
    // The pages that are there are new enough to begin with.
    initialData: 0,
    queryFn: async () => {
      const change = await catchUp();
      // A page that is on its way ends with what was loaded before, and would undo the change.
      await queryClient
        .getQueryCache()
        .find({ queryKey: key, exact: true })
        ?.promise?.catch(() => {});
      patch(change);
      return Date.now();
    },
  });
  return { ...list, patch };
}

/** A list whose first page alone is asked for again at a change, however many pages are loaded; `idOf` tells its rows. */
export const useKept = <T>(key: readonly unknown[], fetch: Fetch<T>, idOf: (row: T) => string) =>
  useCaughtUp<T>(key, fetch, async () => {
    const first = await fetch(undefined);
    return (pages) => withFirstPage(pages, first, idOf);
  });

/** Each page is asked for with the cursor of the one before. */
const withPages = <T>(pages: PlainPage<T>[]): Loaded<T> => ({
  pages,
  pageParams: pages.map((_, i) => pages[i - 1]?.next_cursor ?? undefined),
});
