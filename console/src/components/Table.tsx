import { memo, type ReactNode, use, useEffect, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import { Button } from './Button.tsx';
import { Blocks, WHOLE_ROWS } from './list/Blocks.tsx';
import { FindHint } from './list/FindHint.tsx';
import type { SortedColumn, TableSorting } from './list/sorting.ts';
import { CardTitle } from './Page.tsx';
import styles from './Table.module.css';

export interface Column<Row> {
  name: string;
  /** Right-aligned, for amounts and counts. */
  number?: boolean;
  /** Wraps long texts; `narrow` in less width, for tables of many columns. Other columns stay on one line. */
  wrap?: boolean | 'narrow';
  /** Truncates long texts. The cell's title should have the full text. */
  short?: boolean;
  /** The row header. */
  heading?: boolean;
  /** Shows the name only to screen readers. */
  hideName?: boolean;
  /** Sorts the list by this column. */
  sort?: SortedColumn;
  cell: (row: Row) => ReactNode;
}

/**
 * A table that scrolls sideways if it is too wide. On a phone each row is a card with labelled values. A long table renders
 * only the rows near the screen, each with its row index.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  sorting,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  sorting?: TableSorting;
}) {
  const is_long = rows.length > WHOLE_ROWS;
  // The card is the region of this name already.
  const Region = use(CardTitle) === label ? 'div' : 'section';
  return (
    <Region
      className={styles.scroll}
      role={Region === 'div' ? 'group' : undefined}
      aria-label={label}
      tabIndex={0}
      data-table
    >
      {sorting?.choice(columns)}
      <table className={styles.table} aria-rowcount={is_long ? rows.length + 1 : undefined}>
        <thead>
          <tr>
            {columns.map((column) => {
              const { name, number, hideName } = column;
              return (
                <th
                  key={name}
                  scope="col"
                  className={cx(number === true && styles.number)}
                  aria-sort={sorting?.ariaSort(column)}
                >
                  {hideName === true ? (
                    <span className="visually-hidden">{name}</span>
                  ) : (
                    (sorting?.head(column) ?? name)
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <Blocks
          as="tbody"
          of={rows}
          rows={(some, from) =>
            some.map((row, i) => (
              <Row
                key={keyOf(row)}
                columns={columns as readonly Column<unknown>[]}
                row={row}
                number={is_long ? from + i + 2 : undefined}
              />
            ))
          }
          gap={(height) => (
            // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
            <tr aria-hidden="true" style={{ height }}>
              <td colSpan={columns.length} />
            </tr>
          )}
        />
      </table>
      {is_long && <FindHint />}
    </Region>
  );
}

/** Memoized, since lists grow to thousands of rows. */
const Row = memo(function Row({
  columns,
  row,
  number,
}: {
  columns: readonly Column<unknown>[];
  row: unknown;
  /** Row index in the whole table, with the head as 1. Undefined if all rows are rendered. */
  number: number | undefined;
}) {
  return (
    <tr aria-rowindex={number}>
      {columns.map(({ name, number, wrap, short, heading, hideName, cell }) => {
        const className = cx(
          number === true && styles.number,
          wrap === true && styles.wrap,
          wrap === 'narrow' && styles.narrow,
          short === true && styles.short,
        );
        return heading === true ? (
          <th key={name} scope="row" className={className}>
            {cell(row)}
          </th>
        ) : (
          <td key={name} className={className} data-name={hideName === true ? undefined : name}>
            {cell(row)}
          </td>
        );
      })}
    </tr>
  );
});

/**
 * Loads the next page of a list. Long lists load it on scroll. Renders nothing if there is no next page.
 */
export function LoadMore({
  query,
}: {
  query: {
    rows?: readonly unknown[];
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => unknown;
  };
}) {
  const place = useRef<HTMLDivElement>(null);
  const { rows, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const loads_on_scroll =
    (rows?.length ?? 0) > WHOLE_ROWS && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (!loads_on_scroll || place.current === null) return;
    // Only when it scrolls into view. Already visible, it would load page after page.
    let was_out = false;
    const observer = new IntersectionObserver((entries) => {
      const is_in = entries.at(-1)?.isIntersecting === true;
      if (is_in && was_out) fetchNextPage();
      was_out = !is_in;
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [loads_on_scroll, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div ref={place} className={styles.more}>
      <Button busy={isFetchingNextPage} onClick={() => fetchNextPage()}>
        {rows?.length === 0 ? 'Search further' : 'Load more'}
      </Button>
    </div>
  );
}
