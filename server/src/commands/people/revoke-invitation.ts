import { type Command, done, refuse } from '../../lane/command.ts';

/** Revokes an invitation that was not accepted. Revoking it again changes nothing. */
export const revokeInvitation: Command<{ invitation_id: string }, null> = {
  name: 'revokeInvitation',
  needs: ({ invitation_id }) => ({ invitations: [invitation_id] }),
  apply(set, { invitation_id }, origin) {
    const invitation = set.people.invitation(invitation_id);
    if (invitation === undefined || invitation.accepted_at !== null) {
      return refuse('not_found', 'There is no such invitation, or it was accepted.');
    }
    if (invitation.revoked_at !== null) return done(null);
    const revoked = { ...invitation, revoked_at: set.now };
    set.people.putInvitation(revoked);
    set.audit('invitation.revoked', { type: 'invitation', id: invitation_id }, origin, {
      from: { revoked_at: null },
      to: { revoked_at: set.now },
      state: { invitation: revoked },
    });
    return done(null);
  },
};
