import { useNavigate, useSearch } from '@tanstack/react-router';
import { pick, type Search } from '../../lib/search.ts';

export type Order = 'asc' | 'desc';

/** The URL parameters of a list's order, which are those of the API. */
export const SORTING_PARAMS = ['sort', 'order'] as const;

/** How a column is sorted: only where the service can do so over all rows, not over the loaded ones. */
export interface SortedColumn {
  /** The value of the API's `sort`. */
  by: string;
  /** The direction of the first press. */
  first: Order;
  /** Both directions in words. */
  words: Record<Order, string>;
}

/** The order of a list, and how to change it. */
export interface Sorting {
  by: string;
  /** Null if the list is in another order than that of a column. */
  order: Order | null;
  sortBy: (by: string, order: Order) => void;
}

export const BY_TIME: SortedColumn = {
  by: 'created_at',
  first: 'desc',
  words: { asc: 'Oldest first', desc: 'Newest first' },
};

export const byName = (by: string): SortedColumn => ({
  by,
  first: 'asc',
  words: { asc: 'A to Z', desc: 'Z to A' },
});

/** The order of a list by its URL; newest first if the URL names none. */
export function useSorting(to: string): Sorting & { query: { sort?: string; order?: string } } {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const query = pick(search, SORTING_PARAMS);
  const { sort = BY_TIME.by, order = 'desc' } = query;
  return {
    query,
    by: sort,
    order: order === 'asc' || order === 'desc' ? order : null,
    sortBy: (by, next) => {
      const { sort: _, order: __, ...others } = search;
      const sorted: Search = {
        ...(by === BY_TIME.by ? {} : { sort: by }),
        ...(by === BY_TIME.by && next === BY_TIME.first ? {} : { order: next }),
      };
      void navigate({ to, search: { ...others, ...sorted }, replace: true });
    },
  };
}
