import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMedia } from '../../lib/hooks/use-media.ts';
import { pick, type Search } from '../../lib/search.ts';
import { ariaSort, SortChoice, SortHead } from './SortHead.tsx';
import type { SortedColumn, Sorting, TableSorting } from './sorting.ts';

/** The URL parameters of a list's order, which are those of the API. */
export const SORTING_PARAMS = ['sort', 'order'] as const;

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
export function useSorting(to: string): TableSorting & { query: { sort?: string; order?: string } } {
  const search = useSearch({ strict: false }) as Search;
  const is_phone = useMedia('(max-width: 40rem)');
  const navigate = useNavigate();
  const query = pick(search, SORTING_PARAMS);
  const { sort = BY_TIME.by, order = 'desc' } = query;
  const sorting: Sorting = {
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
  return {
    query,
    // On a phone a table has no heads, but names beside the values.
    ariaSort: (column) => (is_phone ? undefined : ariaSort(column, sorting)),
    head: (column) => (is_phone ? column.name : <SortHead column={column} sorting={sorting} />),
    choice: (columns) => is_phone && <SortChoice columns={columns} sorting={sorting} />,
  };
}
