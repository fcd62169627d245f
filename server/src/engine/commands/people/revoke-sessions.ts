import { type Command, done, refuse } from '../../lane/command.ts';
import { NO_SUCH_MEMBER } from './update-member.ts';

/** Ends the sessions that a member has in the workspace. */
export const revokeSessions: Command<{ user_id: string }, null> = {
  name: 'revokeSessions',
  needs: ({ user_id }) => ({ members: [user_id] }),
  apply(set, { user_id }, origin) {
    const member = set.people.member(user_id);
    if (member === undefined) return refuse('not_found', NO_SUCH_MEMBER);
    set.people.endSessions(user_id);
    set.audit('sessions.revoked', { type: 'member', id: user_id }, origin, {
      from: null,
      to: { sessions_revoked_at: set.now },
      state: { member },
    });
    return done(null);
  },
};
