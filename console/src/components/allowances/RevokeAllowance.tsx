import type { Allowance } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay } from '../../api/queries.ts';
import { Button } from '../Button.tsx';
import { Confirm } from '../Confirm.tsx';
import { AreaField } from '../Field.tsx';
import { allowanceName, canEnd } from './allowances.ts';

/** True if the person may end allowances. */
export function useMayRevoke(): boolean {
  const may_review = useMay('review');
  return useMay('admin') || may_review;
}

/** The button that ends an allowance, after a confirmation. Shows nothing for one that has ended. */
export function RevokeAllowance({ allowance, small = true }: { allowance: Allowance; small?: boolean }) {
  const [is_asking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  if (!canEnd(allowance)) return null;
  const name = allowanceName(allowance);
  return (
    <>
      <Button
        kind="danger"
        small={small}
        aria-label={small ? `Revoke ${name}` : undefined}
        onClick={() => setAsking(true)}
      >
        Revoke
      </Button>
      {is_asking && (
        <Confirm
          title={`Revoke ${name}?`}
          action="Revoke"
          work={async () => {
            await purser.allowances.revoke(allowance.id, reason.trim() === '' ? {} : { reason });
            await invalidate('allowances');
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            {allowance.automatic
              ? 'The next spend that it would have answered waits for a review again.'
              : 'It and all its parts permit nothing from the next request on, and their keys stop working.'}{' '}
            Capabilities that were issued under it cannot be used any more. This cannot be undone.
          </p>
          <AreaField label="Reason" optional maxLength={500} value={reason} onValue={setReason} />
        </Confirm>
      )}
    </>
  );
}
