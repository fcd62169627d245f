import { useState } from 'react';
import { Button } from '../Button.tsx';
import { firstFilter, goToFilters } from '../Filters.tsx';
import { useKeys } from '../keys/use-keys.ts';
import styles from './FindHint.module.css';

/**
 * Warns, when the browser's own search opens, that it finds only the rendered rows of a long list, and offers the filters.
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
      // The browser's search opens too.
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
              Use the filters (F)
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
