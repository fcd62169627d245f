import { madeBy, type Origin } from '@purser/rules/domain/audit';
import { embedsUserId, type Invitation, principalOf } from '@purser/rules/domain/people';
import type { WorkingSet } from './working-set.ts';

/**
 * Returns who makes a key or an invitation. Behind a key without a person at its root is the member whose principal it
 * carries, if any. The command must need the actor's principal.
 */
export function creatorOf(set: WorkingSet, { actor }: Origin): ReturnType<typeof madeBy> {
  const made = madeBy(actor, actor.key_id === null ? undefined : set.keys.get(actor.key_id));
  if (made.person !== null || made.principal_id === null) return made;
  const is_of_member = set.people.membersWith(made.principal_id).length > 0;
  return is_of_member ? { ...made, person: made.principal_id } : made;
}

/**
 * Returns whether a key may be made with a principal: with any that no member has or ever had, and with that of the person
 * who makes it, if they are a member now. The command must need both principals.
 */
export function mayCarry(set: WorkingSet, principal_id: string, person: string | null): boolean {
  const members = set.people.membersWith(principal_id);
  if (members.length === 0) return !embedsUserId(principal_id);
  return person === principal_id && members.some(({ removed_at }) => removed_at === null);
}

/** Returns whether a principal is, or ever was, that of another person than this user. The command must need it. */
export function isTaken(set: WorkingSet, principal_id: string, user_id: string | null): boolean {
  if (set.people.membersWith(principal_id).some((member) => member.user_id !== user_id)) return true;
  return embedsUserId(principal_id) && (user_id === null || principal_id !== principalOf(user_id));
}

/**
 * Returns whether the inviter may still invite: the key that made the invitation was not revoked, and the person behind it is
 * an administrator whose account is not disabled. The command must need the invitation and `reviewers`.
 */
export function mayStillInvite(set: WorkingSet, invitation: Invitation): boolean {
  const { invited_by_key_id, invited_by_person } = invitation;
  const key = invited_by_key_id === null ? undefined : set.keys.get(invited_by_key_id);
  if (key !== undefined && key.revoked_at !== null) return false;
  if (invited_by_person === null) return true;
  const isInviter = (member: { role: string; principal_id: string }) =>
    member.role === 'admin' && member.principal_id === invited_by_person;
  return set.people.reviewers().some(isInviter);
}
