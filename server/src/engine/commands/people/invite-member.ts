import type { Role } from '@purser/contract/values/scopes';
import type { Invitation } from '@purser/rules/domain/people';
import { type Command, done, refuse } from '../../lane/command.ts';
import { creatorOf, isTaken } from '../../lane/principals.ts';
import { ALREADY_MEMBER, KEY_HAS_PRINCIPAL, PRINCIPAL_TAKEN } from './join-workspace.ts';

const DAY_MS = 86_400_000;
const INVITATION_DAYS = 7;

export interface InviteMemberInput {
  /** As `normaliseEmail` returns it. */
  email: string;
  role: Role;
  principal_id: string | null;
  /** True: the link goes to the mailbox alone. */
  emailed: boolean;
  /** The principal of the person or key that invites. */
  acting_principal: string | null;
}

const KEEPS_PRINCIPAL = (principal_id: string) =>
  `principal_id: must be omitted or ${principal_id}: a former member keeps their principal`;

/** Makes an invitation. Earlier ones of the same e-mail stay good; the first that is accepted uses up all of them. */
export const inviteMember: Command<InviteMemberInput, Invitation> = {
  name: 'createInvitation',
  needs: ({ email, principal_id, acting_principal }) => ({
    emails: [email],
    principals: [principal_id, acting_principal].filter((each) => each !== null),
  }),
  apply(set, { email, role, principal_id, emailed }, origin) {
    const { people } = set;
    const user = people.user(email);
    const member = user && people.member(user.user_id);
    if (member !== undefined && member.removed_at === null && !member.is_pending) {
      return refuse('already_member', ALREADY_MEMBER);
    }
    if (principal_id !== null && isTaken(set, principal_id, user?.user_id ?? null)) {
      return refuse('principal_taken', PRINCIPAL_TAKEN);
    }
    if (principal_id !== null && member !== undefined && member.principal_id !== principal_id) {
      return refuse('invalid_request', KEEPS_PRINCIPAL(member.principal_id));
    }
    if (principal_id !== null && member === undefined && set.keys.isCarriedByForeign(principal_id)) {
      return refuse('principal_taken', KEY_HAS_PRINCIPAL);
    }
    const { key_id, person } = creatorOf(set, origin);
    const invitation: Invitation = {
      invitation_id: set.newId('invitation'),
      email,
      role,
      principal_id,
      invited_by_key_id: key_id,
      invited_by_person: person,
      created_at: set.now,
      expires_at: new Date(set.now_ms + INVITATION_DAYS * DAY_MS).toISOString(),
      accepted_at: null,
      accepted_by: null,
      revoked_at: null,
    };
    people.putInvitation(invitation);
    if (emailed) people.mailInvitation(invitation);
    set.audit('member.invited', { type: 'invitation', id: invitation.invitation_id }, origin, {
      from: null,
      to: { email, role, principal_id, expires_at: invitation.expires_at, emailed },
      state: { invitation },
    });
    return done(invitation);
  },
};
