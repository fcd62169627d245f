import { MAX_SIGNING_KEYS } from '@purser/contract/values/signing';
import { claimFault } from '@purser/rules/signing/history';
import { signatureText } from '@purser/rules/signing/records/signatures';
import type { SigningKeyRow } from '@purser/rules/signing/records/signing-key';
import { hasRoot } from '@purser/rules/signing/signing-keys';
import { enrolmentClaim } from '@purser/rules/signing/statements';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { GivenSignature } from './given-signature.ts';

export interface EnrolSigningKeyInput
  extends GivenSignature,
    Pick<SigningKeyRow, 'user_id' | 'name' | 'credential_id' | 'public_key' | 'rp_id' | 'origin'> {}

/** A signing key as the audit list shows it. */
export const auditedKey = ({ name, principal_id, status, endorsed_by }: SigningKeyRow) => ({
  name,
  principal_id,
  status,
  endorsed_by,
});

/**
 * Takes a member's passkey into the chain. The first key, which must be an administrator's, is the root and ACTIVE at
 * once; of two at the same time one is the root.
 */
export const enrolSigningKey: Command<EnrolSigningKeyInput, SigningKeyRow> = {
  name: 'enrolSigningKey',
  needs: ({ user_id }) => ({ signing_keys: true, members: [user_id] }),
  apply(set, input, origin) {
    const { user_id, name, credential_id, public_key, rp_id, origin: site, given, fault } = input;
    const { workspace_id, signing_keys } = set;
    const member = set.people.member(user_id);
    if (member === undefined || member.removed_at !== null || member.is_pending)
      return refuse('not_found', 'You are not a member of the workspace.');
    const alive = signing_keys.all().filter(({ status }) => status !== 'REVOKED');
    if (alive.some((key) => key.credential_id === credential_id))
      return refuse('signing_key_exists', 'The passkey is already a signing key of the workspace.');
    if (alive.filter((key) => key.user_id === user_id).length >= MAX_SIGNING_KEYS)
      return refuse('signing_key_limit', `You have ${MAX_SIGNING_KEYS} signing keys; revoke one first.`);
    const is_root = !hasRoot(signing_keys.all());
    if (is_root && member.role !== 'admin')
      return refuse('insufficient_scope', "The first signing key must be an administrator's.");
    const { principal_id } = member;
    const signer = { credential_id, public_key, rp_id, origin: site };
    const claim = enrolmentClaim({ workspace_id, principal_id, user_id });
    const wrong = fault ?? claimFault(given, signer, claim, set.now_ms);
    if (wrong !== null) return refuse('signature_invalid', `The signature is not good: ${wrong}.`);
    const key: SigningKeyRow = {
      signing_key_id: set.newId('signing_key'),
      user_id,
      principal_id,
      name,
      credential_id,
      public_key,
      rp_id,
      origin: site,
      status: is_root ? 'ACTIVE' : 'PENDING',
      is_root,
      enrolment: signatureText(given),
      endorsed_by: null,
      endorsement: null,
      created_at: set.now,
      revoked_at: null,
      reset_at: null,
    };
    signing_keys.put(key);
    set.audit('signing_key.enrolled', { type: 'signing_key', id: key.signing_key_id }, origin, {
      from: null,
      to: auditedKey(key),
      state: { signing_key: key },
    });
    return done(key);
  },
};
