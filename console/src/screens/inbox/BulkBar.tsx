import { useMay, WHY_NOT } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import type { Verdict } from './BulkDialog.tsx';
import styles from './Inbox.module.css';

/** The selected requests, with the buttons that review them together. */
export function BulkBar({
  count,
  onVerdict,
  onClear,
}: {
  count: number;
  onVerdict: (verdict: Verdict) => void;
  onClear: () => void;
}) {
  const may = useMay('review');
  const why = !may && WHY_NOT.review;
  return (
    <div className={styles.bulk}>
      <strong>{count} selected</strong>
      <Button small why={why} shortcut="⇧A" aria-keyshortcuts="Shift+A" onClick={() => onVerdict('ALLOW')}>
        Allow selected
      </Button>
      <Button
        small
        kind="danger"
        why={why}
        shortcut="⇧D"
        aria-keyshortcuts="Shift+D"
        onClick={() => onVerdict('DENY')}
      >
        Deny selected
      </Button>
      <Button small kind="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
