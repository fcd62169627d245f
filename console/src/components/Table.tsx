import { memo, type ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { Button } from './Button.tsx';
import styles from './Table.module.css';

export interface Column<Row> {
  name: string;
  /** Right-aligned, for amounts and counts. */
  number?: boolean;
  /** Longer texts break into lines. Everything else stays in one. */
  wrap?: boolean;
  /** Longer texts are cut off; the cell's own title should say them whole. */
  short?: boolean;
  /** The column that says what the row is about. */
  heading?: boolean;
  /** The name is there for machines alone. */
  hideName?: boolean;
  cell: (row: Row) => ReactNode;
}

/** A table. What is wider than its place scrolls within it; on a phone each row is a card that names its values. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className={styles.scroll} aria-label={label} tabIndex={0} data-table>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ name, number, hideName }) => (
              <th key={name} scope="col" className={cx(number === true && styles.number)}>
                {hideName === true ? <span className="visually-hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={keyOf(row)} columns={columns as readonly Column<unknown>[]} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Rendered anew only when it changed: lists grow to thousands of rows. */
const Row = memo(function Row({ columns, row }: { columns: readonly Column<unknown>[]; row: unknown }) {
  return (
    <tr>
      {columns.map(({ name, number, wrap, short, heading, hideName, cell }) => {
        const className = cx(
          number === true && styles.number,
          wrap === true && styles.wrap,
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

/** Fetches the next page of a list. Nothing where there is none. */
export function LoadMore({
  query,
}: {
  query: {
    rows?: readonly unknown[];
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
  };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className={styles.more}>
      <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
        {query.rows?.length === 0 ? 'Look further' : 'Load more'}
      </Button>
    </div>
  );
}
