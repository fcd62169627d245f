import type { useList } from '../../api/lists.ts';
import { Button } from '../Button.tsx';
import styles from './NewRows.module.css';

type List = Pick<ReturnType<typeof useList>, 'new_count' | 'has_more_new' | 'showNew'>;

/** Offers rows that arrived at the top while the person reads further down. Goes above the rows. */
export function NewRows({ list: { new_count, has_more_new, showNew } }: { list: List }) {
  return (
    <div role="status" className={styles.newest}>
      {new_count > 0 && (
        <Button kind="primary" small onClick={() => void showNew()}>
          {has_more_new ? `${new_count} or more` : new_count} new
        </Button>
      )}
    </div>
  );
}
