import { joinedAt, type Member } from '@purser/rules/domain/people';
import { type Command, done, refuse } from '../../lane/command.ts';
import { revokeSigningKeysOf } from '../signing/revoke-signing-keys.ts';

/** Makes a membership from before the e-mail was proved the person's own, from now on. Accepting it again changes nothing. */
export const acceptMembership: Command<{ user_id: string }, Member> = {
  name: 'acceptMembership',
  needs: ({ user_id }) => ({ members: [user_id], signing_keys: true }),
  apply(set, { user_id }, origin) {
    const before = set.people.member(user_id);
    if (before === undefined || before.removed_at !== null) {
      return refuse('not_found', 'No such workspace, or you are not a member of it.');
    }
    if (!before.is_pending) return done(before);
    const joined_at = joinedAt(set.now, before.email_proved_at);
    const member = { ...before, joined_at, is_pending: false };
    set.people.putMember(member);
    // Somebody else may have enrolled them, before the e-mail was proved.
    revokeSigningKeysOf(set, user_id, origin);
    const { email, role, principal_id } = member;
    const by = origin.actor.type === 'user' ? { ...origin.actor, principal_id } : origin.actor;
    set.audit(
      'member.joined',
      { type: 'member', id: user_id },
      { ...origin, actor: by },
      {
        from: null,
        to: { email, role, principal_id, invitation_id: null },
        state: { member },
      },
    );
    return done(member);
  },
};
