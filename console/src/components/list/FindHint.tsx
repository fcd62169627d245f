import { useState } from 'react';
import { Button } from '../Button.tsx';
import { firstFilter, goToFilters } from '../Filters.tsx';
import { useKeys } from '../keys/use-keys.ts';
import styles from './FindHint.module.css';

/**
 * Stands in a list of which not all rows are rendered. Whoever calls up the browser's own search is told that it finds
 * only some of them, and has the filters one key away.
 */
export function FindHint() {
  const [is_shown, setShown] = useState(false);
  const toFilters = () => {
    setShown(false);
    goToFilters();
  };
  useKeys({
    'Ctrl+f': () => {
      setShown(true);
      // The browser's search opens all the same.
      return false;
    },
  });
  return (
    <div role="status" className={styles.place}>
      {is_shown && (
        <div className={styles.hint}>
          Your browser’s search finds only the rows near the screen.
          {firstFilter() !== null && (
            <Button small onClick={toFilters}>
              Find by the filters (F)
            </Button>
          )}
          <Button small kind="quiet" aria-label="Close" onClick={() => setShown(false)}>
            ✕
          </Button>
        </div>
      )}
    </div>
  );
}
