import type { Signature } from '@purser/contract/signing/fields';
import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import type { WorkingSet } from '../../lane/working-set.ts';

/** A signature as it was given, and what was found before the lane. */
export interface GivenSignature {
  given: Signature;
  /** Its fault by what the chain does not know: challenge, passkey, or the head that it signs; null: it has none. */
  fault: string | null;
}

/** Returns a member's ACTIVE key that a signature names; the command must need `signing_keys`. */
export function activeKeyOf(
  set: WorkingSet,
  principal_id: string | null,
  { given }: GivenSignature,
): SigningKeyRow | undefined {
  return set.signing_keys
    .all()
    .find(
      (key) =>
        key.status === 'ACTIVE' &&
        key.credential_id === given.response.id &&
        key.principal_id === principal_id,
    );
}
