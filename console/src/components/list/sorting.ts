import type { ReactNode } from 'react';

export type Order = 'asc' | 'desc';

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

/** A column as far as the order of a list goes. */
export interface Sortable {
  name: string;
  sort?: SortedColumn;
}

/** The parts of a table that its order adds. Only lists load it, since the first screen has none that is sorted. */
export interface TableSorting {
  ariaSort: (column: Sortable) => 'ascending' | 'descending' | 'none' | undefined;
  head: (column: Sortable) => ReactNode;
  choice: (columns: readonly Sortable[]) => ReactNode;
}
