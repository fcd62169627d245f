import { claimFault } from '@purser/rules/signing/history';
import { signatureText } from '@purser/rules/signing/records/signatures';
import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import { fingerprintOfKey } from '@purser/rules/signing/signing-keys';
import { endorsementClaim } from '@purser/rules/signing/statements';
import { type Command, done, refuse } from '../../lane/command.ts';
import { auditedKey } from './enrol-signing-key.ts';
import { activeKeyOf, type GivenSignature } from './given-signature.ts';

/** The message for an unknown or revoked signing key, and for one that is not pending. */
export const NOT_PENDING = 'No such signing key that is pending.';

export interface EndorseSigningKeyInput extends GivenSignature {
  signing_key_id: string;
  /** The administrator who endorses. */
  user_id: string;
}

/** Makes a PENDING key ACTIVE, by the signature of an ACTIVE key of another administrator. */
export const endorseSigningKey: Command<EndorseSigningKeyInput, SigningKeyRow> = {
  name: 'endorseSigningKey',
  needs: ({ user_id }) => ({ signing_keys: true, members: [user_id] }),
  apply(set, input, origin) {
    const before = set.signing_keys.find(input.signing_key_id);
    if (before?.status !== 'PENDING') return refuse('not_found', NOT_PENDING);
    const member = set.people.member(input.user_id);
    if (member?.role !== 'admin' || member.removed_at !== null || member.is_pending)
      return refuse('insufficient_scope', 'Only an administrator can endorse a signing key.');
    if (before.user_id === input.user_id)
      return refuse('signature_invalid', 'Your own key needs the endorsement of another administrator.');
    const by = activeKeyOf(set, member.principal_id, input);
    if (by === undefined)
      return refuse('signature_invalid', 'The signature is of no active signing key of yours.');
    const key = { ...before, fingerprint: fingerprintOfKey(before) };
    const claim = endorsementClaim(set.workspace_id, key, by.principal_id);
    const wrong = input.fault ?? claimFault(input.given, by, claim, set.now_ms);
    if (wrong !== null) return refuse('signature_invalid', `The signature is not good: ${wrong}.`);
    const after: SigningKeyRow = {
      ...before,
      status: 'ACTIVE',
      endorsed_by: by.signing_key_id,
      endorsement: signatureText(input.given),
    };
    set.signing_keys.put(after);
    set.audit('signing_key.endorsed', { type: 'signing_key', id: after.signing_key_id }, origin, {
      from: auditedKey(before),
      to: auditedKey(after),
      state: { signing_key: after },
    });
    return done(after);
  },
};
