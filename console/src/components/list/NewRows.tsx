import type { useNewestFirst } from '../../api/newest-first.ts';
import { Button } from '../Button.tsx';
import styles from './NewRows.module.css';

type List = Pick<ReturnType<typeof useNewestFirst>, 'new_count' | 'has_more_new' | 'showNew'>;

/** How many rows came on top while somebody reads further down, and the way to them. Stands before the rows. */
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
