import { type Command, done, refuse } from '../../lane/command.ts';
import { LAST_ADMIN, NO_SUCH_MEMBER } from './update-member.ts';

/** Removes a member and ends the sessions that they have in the workspace. Removing them again changes nothing. */
export const removeMember: Command<{ user_id: string }, null> = {
  name: 'removeMember',
  needs: ({ user_id }) => ({ members: [user_id], admin_members: true }),
  apply(set, { user_id }, origin) {
    const { people } = set;
    const before = people.member(user_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_MEMBER);
    if (before.removed_at !== null) return done(null);
    if (before.role === 'admin' && people.adminCount(user_id) === 0) return refuse('last_admin', LAST_ADMIN);
    const member = { ...before, removed_at: set.now };
    people.putMember(member);
    people.endSessions(user_id);
    set.audit('member.removed', { type: 'member', id: user_id }, origin, {
      from: { removed_at: null },
      to: { removed_at: set.now },
      state: { member },
    });
    return done(null);
  },
};
