import { type Command, done, refuse } from '../../lane/command.ts';
import { withdrawAdministration } from '../../lane/revocations.ts';
import { revokeSigningKeysOf } from '../signing/revoke-signing-keys.ts';
import { endSlackLink } from './link-slack.ts';
import { LAST_ADMIN, NO_SUCH_MEMBER } from './update-member.ts';

export interface RemoveMemberInput {
  user_id: string;
  /** Leaves the admin keys that the person made. */
  keep_keys: boolean;
}

/**
 * Removes a member, and ends the sessions that they have in the workspace, their pending invitations, their signing keys,
 * their account in Slack and their admin keys.
 * Removing them again revokes the keys that an earlier removal left.
 */
export const removeMember: Command<RemoveMemberInput, null> = {
  name: 'removeMember',
  needs: ({ user_id }) => ({
    members: [user_id],
    reviewers: true,
    admin_keys: true,
    pending_invitations: true,
    signing_keys: true,
    slack_links: true,
  }),
  apply(set, { user_id, keep_keys }, origin) {
    const { people } = set;
    const before = people.member(user_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_MEMBER);
    if (before.removed_at === null) {
      if (people.isLastAdmin(before)) return refuse('last_admin', LAST_ADMIN);
      const member = { ...before, removed_at: set.now };
      people.putMember(member);
      people.endSessions(user_id);
      set.audit('member.removed', { type: 'member', id: user_id }, origin, {
        from: { removed_at: null },
        to: { removed_at: set.now },
        state: { member },
      });
      revokeSigningKeysOf(set, user_id, origin);
      endSlackLink(set, user_id, origin);
    }
    withdrawAdministration(set, before.principal_id, keep_keys, origin);
    return done(null);
  },
};
