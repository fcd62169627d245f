import type { Decision } from '@purser/sdk';
import { visible } from '../../lib/visible.ts';
import { Notice } from '../Notice.tsx';
import { Money } from '../Value.tsx';

/** Says what the reviewer's passkey signs, where the tier demands a signature. */
export function SignedFacts({ decision }: { decision: Decision }) {
  const { decision_id, action, currency, reservation } = decision;
  return (
    <Notice title="Your passkey signs this approval.">
      <Money amount_minor={reservation.amount_minor} currency={currency} /> to {visible(action.merchant)},
      decision <code>{decision_id}</code>.
    </Notice>
  );
}
