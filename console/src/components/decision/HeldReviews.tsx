import { useNavigate, useRouterState } from '@tanstack/react-router';
import { visible } from '../../lib/visible.ts';
import { Button } from '../Button.tsx';
import { useKeys } from '../keys/use-keys.ts';
import styles from './HeldReviews.module.css';
import { undoReview, useHeldReviews } from './held-reviews.ts';

/** Reviews shown one by one; more are counted. */
const SHOWN = 3;

/** The confirmed reviews that can still be taken back, on every screen. */
export default function HeldReviews() {
  const held = [...useHeldReviews()].filter(([, { is_sent }]) => !is_sent).toReversed();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const search = useRouterState({ select: (state) => state.location.search as Record<string, string> });
  const navigate = useNavigate();
  const undo = (decision_id: string | undefined) => {
    if (decision_id === undefined || !undoReview(decision_id)) return false;
    if (path.startsWith('/decisions/')) {
      if (!path.includes(decision_id)) void navigate({ to: `/decisions/${decision_id}` });
      return true;
    }
    const kept = path.startsWith('/reviews') ? search : {};
    void navigate({ to: '/reviews', search: { ...kept, id: decision_id } });
    return true;
  };
  useKeys({ u: () => undo(held[0]?.[0]) }, held.length > 0);
  return (
    <div role="status" className={styles.held} aria-label="Reviews that can be undone">
      {held.slice(0, SHOWN).map(([decision_id, { decision, body }], i) => (
        <p key={decision_id}>
          <span>
            {body.action === 'ALLOW' ? 'Allowed' : 'Denied'} {visible(decision.action.merchant)}.
          </span>
          <Button
            small
            shortcut={i === 0 ? 'u' : undefined}
            aria-keyshortcuts={i === 0 ? 'u' : undefined}
            onClick={() => undo(decision_id)}
          >
            Undo
          </Button>
        </p>
      ))}
      {held.length > SHOWN && <p>{held.length - SHOWN} more can be undone.</p>}
    </div>
  );
}
