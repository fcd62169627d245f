import type { Role } from '@purser/contract/values/scopes';
import type { Member } from '@purser/rules/domain/people';
import { type Command, done, refuse } from '../../lane/command.ts';
import { withdrawAdministration } from '../../lane/revocations.ts';

export const NO_SUCH_MEMBER = 'No such member.';
export const LAST_ADMIN = "This is the workspace's last administrator; promote another member first.";

export interface UpdateMemberInput {
  user_id: string;
  role: Role;
  /** Leaves the admin keys that the person made, where they are no administrator any more. */
  keep_keys: boolean;
}

/**
 * Gives a member another role, which ends the sessions that they have in the workspace. A member who is no administrator
 * any more loses their pending invitations and their admin keys.
 */
export const updateMember: Command<UpdateMemberInput, Member> = {
  name: 'updateMember',
  needs: ({ user_id }) => ({
    members: [user_id],
    reviewers: true,
    admin_keys: true,
    pending_invitations: true,
  }),
  apply(set, { user_id, role, keep_keys }, origin) {
    const { people } = set;
    const before = people.member(user_id);
    if (before === undefined || before.removed_at !== null) return refuse('not_found', NO_SUCH_MEMBER);
    if (before.role === role) return done(before);
    if (people.isLastAdmin(before)) return refuse('last_admin', LAST_ADMIN);
    const member = { ...before, role };
    people.putMember(member);
    people.endSessions(user_id);
    set.audit('member.role_changed', { type: 'member', id: user_id }, origin, {
      from: { role: before.role },
      to: { role },
      state: { member },
    });
    if (before.role === 'admin') withdrawAdministration(set, member.principal_id, keep_keys, origin);
    return done(member);
  },
};
