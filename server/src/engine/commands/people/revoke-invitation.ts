import { type Command, done, refuse } from '../../lane/command.ts';
import { withdrawInvitation } from '../../lane/revocations.ts';

/** Revokes an invitation that was not accepted. Revoking it again changes nothing. */
export const revokeInvitation: Command<{ invitation_id: string }, null> = {
  name: 'revokeInvitation',
  needs: ({ invitation_id }) => ({ invitations: [invitation_id] }),
  apply(set, { invitation_id }, origin) {
    const invitation = set.people.invitation(invitation_id);
    if (invitation === undefined || invitation.accepted_at !== null) {
      return refuse('not_found', 'No such invitation, or it was accepted.');
    }
    if (invitation.revoked_at !== null) return done(null);
    withdrawInvitation(set, invitation, origin);
    return done(null);
  },
};
