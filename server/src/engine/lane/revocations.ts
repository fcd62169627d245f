import type { Origin } from '@purser/rules/domain/audit';
import { type ApiKey, isKeyOf } from '@purser/rules/domain/keys';
import type { Invitation } from '@purser/rules/domain/people';
import type { WorkingSet } from './working-set.ts';

/** Revokes an invitation that was neither accepted nor revoked. */
export function withdrawInvitation(set: WorkingSet, invitation: Invitation, origin: Origin): void {
  const revoked = { ...invitation, revoked_at: set.now };
  set.people.putInvitation(revoked);
  set.audit('invitation.revoked', { type: 'invitation', id: invitation.invitation_id }, origin, {
    from: { revoked_at: null },
    to: { revoked_at: set.now },
    state: { invitation: revoked },
  });
}

function withdrawInvitations(
  set: WorkingSet,
  isMade: (invitation: Invitation) => boolean,
  origin: Origin,
): void {
  for (const each of set.people.pendingInvitations(isMade)) withdrawInvitation(set, each, origin);
}

/** Revokes a key that was not revoked, and the pending invitations that it made. The command must need `pending_invitations`. */
export function withdrawKey(set: WorkingSet, key: ApiKey, origin: Origin): void {
  const revoked = { ...key, revoked_at: set.now };
  set.keys.put(revoked);
  set.audit('api_key.revoked', { type: 'api_key', id: key.key_id }, origin, {
    from: { revoked_at: null },
    to: { revoked_at: set.now },
    state: { api_key: revoked },
  });
  withdrawInvitations(set, ({ invited_by_key_id }) => invited_by_key_id === key.key_id, origin);
}

/**
 * Revokes the pending invitations of a person who is no administrator any more, and unless `keep_keys` the admin keys that
 * the person made, directly or by other keys, or that carry the person's principal. The command must need `admin_keys` and
 * `pending_invitations`.
 */
export function withdrawAdministration(
  set: WorkingSet,
  person: string,
  keep_keys: boolean,
  origin: Origin,
): void {
  withdrawInvitations(set, ({ invited_by_person }) => invited_by_person === person, origin);
  if (keep_keys) return;
  for (const key of set.keys.admins()) if (isKeyOf(key, person)) withdrawKey(set, key, origin);
}
