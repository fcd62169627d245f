import type { PagePromise } from '@purser/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';

/**
 * A page may end without a row that fits before all is looked at. So many are looked through by themselves; then it is
 * the person who goes on.
 */
const MAX_EMPTY_PAGES = 20;

/** A page as it came, without what the client library hangs on to it. */
interface PlainPage<T> {
  data: T[];
  next_cursor: string | null;
}

/**
 * A list of the API, page by page. `key` names it and all its filters; its first word decides what makes it old. `fetch`
 * is asked with the cursor of each page.
 */
export function useList<T>(
  key: readonly unknown[],
  fetch: (cursor: string | undefined) => PagePromise<T> | Promise<PlainPage<T>>,
  options: { enabled?: boolean; refetchOnWindowFocus?: boolean } = {},
) {
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
    ...options,
  });
  const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
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
    isSuccess: query.isSuccess && !is_looking,
  };
}
