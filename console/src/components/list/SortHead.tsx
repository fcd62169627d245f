import { SelectField } from '../Field.tsx';
import styles from './SortHead.module.css';
import type { Order, Sortable, Sorting } from './sorting.ts';

const ARIA = { asc: 'ascending', desc: 'descending' } as const;
const ARROWS = { asc: '↑', desc: '↓' } as const;

/** The direction in which a column is sorted now; null if it is not. */
export const orderOf = ({ sort }: Pick<Sortable, 'sort'>, sorting: Sorting): Order | null =>
  sort !== undefined && sorting.by === sort.by ? sorting.order : null;

/** The value of `aria-sort` of a column's head. */
export function ariaSort(column: Pick<Sortable, 'sort'>, sorting: Sorting) {
  if (column.sort === undefined) return undefined;
  const order = orderOf(column, sorting);
  return order === null ? 'none' : ARIA[order];
}

/** The head of a column that sorts the list: the first press takes the column's usual direction, the next one the other. */
export function SortHead({ column, sorting }: { column: Sortable; sorting: Sorting }) {
  const { name, sort } = column;
  if (sort === undefined) return name;
  const order = orderOf(column, sorting);
  const next = order === null ? sort.first : order === 'asc' ? 'desc' : 'asc';
  return (
    <button
      type="button"
      className={styles.head}
      title={sort.words[next]}
      onClick={() => sorting.sortBy(sort.by, next)}
    >
      {name}
      <span aria-hidden="true" className={styles.arrow}>
        {order === null ? '↕' : ARROWS[order]}
      </span>
    </button>
  );
}

/** The same choice on a phone, where a table has no heads. */
export function SortChoice({ columns, sorting }: { columns: readonly Sortable[]; sorting: Sorting }) {
  const options = columns.flatMap(({ name, sort }) =>
    sort === undefined
      ? []
      : (['asc', 'desc'] as const).map(
          (order) => [`${sort.by} ${order}`, `${name}: ${sort.words[order]}`] as const,
        ),
  );
  return (
    <div className={styles.choice}>
      <SelectField
        label="Sort"
        value={sorting.order === null ? '' : `${sorting.by} ${sorting.order}`}
        options={sorting.order === null ? [['', 'Other'], ...options] : options}
        onValue={(value) => {
          const [by, order] = value.split(' ') as [string, Order];
          if (by !== '') sorting.sortBy(by, order);
        }}
      />
    </div>
  );
}
