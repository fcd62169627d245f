import type { Role } from '@purser/contract/values/scopes';
import type { Origin } from '@purser/rules/domain/audit';
import {
  type Credited,
  INVALID_INVITATION,
  type Invitation,
  invitationStatus,
  joinedAt,
  type Member,
  principalOf,
} from '@purser/rules/domain/people';
import { type Command, done, refuse } from '../../lane/command.ts';
import { isTaken, mayStillInvite } from '../../lane/principals.ts';
import { withdrawAdministration, withdrawInvitation } from '../../lane/revocations.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import type { Identity } from '../../storage/members.ts';
import { revokeSigningKeysOf } from '../signing/revoke-signing-keys.ts';

/** A person's right to join: being the first, an invitation, or the settings of the identity provider. */
export type Admittance =
  | { by: 'first' }
  /** `was_mailed`: the link went to the mailbox alone. */
  | { by: 'invitation'; invitation_id: string; principal_id: string | null; was_mailed: boolean }
  | { by: 'provider'; role: Role }
  /** The operator's or the person's own wish to see a sample, which they administrate. */
  | { by: 'sample' };

export interface JoinWorkspaceInput {
  admittance: Admittance;
  /** As `normaliseEmail` returns it. */
  email: string;
  /**
   * The account with this e-mail, as of the credential epoch in which its owner proved to be who they are; null where there is
   * none yet.
   */
  user: Credited | null;
  /** For a new account. */
  name: string;
  password_hash: string | null;
  identity: Identity | null;
}

export const ALREADY_SET_UP = 'The service already has an administrator; sign in, or ask for an invitation.';
export const ALREADY_MEMBER = 'This person is already a member of the workspace.';
export const PRINCIPAL_TAKEN =
  'principal_id: belongs to, or contains the id of, another current or former member; choose another one.';
export const KEY_HAS_PRINCIPAL =
  'principal_id: is carried by a key that another person created; revoke the key or choose another one.';

/** The principals that the person may get, as far as they are known before the person has an id. */
function principalsOf(admittance: Admittance, user_id: string | null): string[] {
  const invited = admittance.by === 'invitation' ? admittance.principal_id : null;
  return [...(invited === null ? [] : [invited]), ...(user_id === null ? [] : [principalOf(user_id)])];
}

/** The invitation that a person joins by; null where none is needed, undefined if it is not good any more. */
function invitationOf(
  set: WorkingSet,
  { admittance, email }: JoinWorkspaceInput,
): Invitation | null | undefined {
  if (admittance.by !== 'invitation') return null;
  const invitation = set.people.invitation(admittance.invitation_id);
  if (invitation === undefined || invitation.email !== email) return undefined;
  if (invitationStatus(invitation, set.now_ms) !== 'pending') return undefined;
  return mayStillInvite(set, invitation) ? invitation : undefined;
}

/**
 * The principal of a new member. A person who comes back keeps the one that their reviews and keys have, unless another
 * person got it meanwhile.
 */
function principalFor(
  set: WorkingSet,
  user_id: string,
  earlier: Member | undefined,
  invitation: Invitation | null,
) {
  const kept = earlier !== undefined && !isTaken(set, earlier.principal_id, user_id);
  const principal_id = kept ? earlier.principal_id : (invitation?.principal_id ?? principalOf(user_id));
  if (isTaken(set, principal_id, user_id)) return refuse('principal_taken', PRINCIPAL_TAKEN);
  if (!kept && set.keys.isCarriedByForeign(principal_id)) return refuse('principal_taken', KEY_HAS_PRINCIPAL);
  return { principal_id };
}

/**
 * Returns whether the way in which a new person joins proves the e-mail. The operator has the code of the set-up, a provider
 * vouches for the person, and a mailed link was in the mailbox alone. A link that an administrator was shown proves nothing.
 */
function provesEmail({ admittance, identity }: JoinWorkspaceInput): boolean {
  if (admittance.by === 'first' || identity !== null) return true;
  return admittance.by === 'invitation' && admittance.was_mailed;
}

/**
 * Makes a person a member of the workspace, and an account for who has none. All invitations of the e-mail to this
 * workspace are used up by it. A membership that the person has yet to accept is replaced.
 */
export const joinWorkspace: Command<JoinWorkspaceInput, Credited> = {
  name: 'joinWorkspace',
  needs: ({ admittance, email, user }) => ({
    emails: [email],
    any_person: admittance.by === 'first',
    ...(admittance.by === 'invitation'
      ? {
          invitations: [admittance.invitation_id],
          reviewers: true,
          admin_keys: true,
          pending_invitations: true,
        }
      : {}),
    principals: principalsOf(admittance, user?.user_id ?? null),
    signing_keys: true,
  }),
  apply(set, input, origin) {
    const { admittance, email } = input;
    const { people } = set;
    if (admittance.by === 'first' && people.hasPeople()) return refuse('already_set_up', ALREADY_SET_UP);
    const invitation = invitationOf(set, input);
    if (invitation === undefined) return refuse('unauthenticated', INVALID_INVITATION);
    const user = people.user(email);
    // Somebody made an account with this e-mail, or what proved who they are was of another epoch, since the caller looked.
    const is_same =
      user?.user_id === input.user?.user_id && user?.credential_epoch === input.user?.credential_epoch;
    if (!is_same) return refuse('unauthenticated', INVALID_INVITATION);
    const user_id = user?.user_id ?? set.newId('user');
    const earlier = people.member(user_id);
    if (earlier !== undefined && earlier.removed_at === null && !earlier.is_pending) {
      return refuse('already_member', ALREADY_MEMBER);
    }
    // Who was removed comes back by invitation alone.
    if (earlier !== undefined && admittance.by === 'provider') {
      return refuse('unauthenticated', INVALID_INVITATION);
    }
    const principal = principalFor(set, user_id, earlier, invitation);
    if ('refusal' in principal) return principal;
    const { principal_id } = principal;

    // After this point the person joins: nothing may refuse it.
    const email_proved_at = user === undefined ? (provesEmail(input) ? set.now : null) : user.email_proved_at;
    if (user === undefined) {
      const { name, password_hash, identity } = input;
      people.addUser({
        user_id,
        email,
        name,
        password_hash,
        identity,
        created_at: set.now,
        disabled_at: null,
        credential_epoch: 0,
        email_proved_at,
      });
    }
    const role = admittance.by === 'provider' ? admittance.role : (invitation?.role ?? 'admin');
    const member: Member = {
      user_id,
      email,
      role,
      principal_id,
      joined_at: joinedAt(set.now, email_proved_at),
      removed_at: null,
      away_until: null,
      away_delegate: null,
      is_pending: false,
      email_proved_at,
    };
    people.putMember(member);
    const by: Origin = {
      ...origin,
      actor: origin.actor.type === 'user' ? { ...origin.actor, principal_id } : origin.actor,
    };
    const used = invitation && { ...invitation, accepted_at: set.now, accepted_by: user_id };
    if (used !== null) people.putInvitation(used);
    set.audit('member.joined', { type: 'member', id: user_id }, by, {
      from: null,
      to: { email, role, principal_id, invitation_id: used?.invitation_id ?? null },
      state: { member, ...(used === null ? {} : { invitation: used }) },
    });
    for (const other of people.pendingInvitations((each) => each.email === email)) {
      withdrawInvitation(set, other, by);
    }
    if (earlier !== undefined) revokeSigningKeysOf(set, user_id, by);
    // The membership that is replaced may have been an administrator's.
    if (
      earlier !== undefined &&
      earlier.removed_at === null &&
      earlier.role === 'admin' &&
      role !== 'admin'
    ) {
      withdrawAdministration(set, earlier.principal_id, false, by);
    }
    return done({ user_id, email, credential_epoch: user?.credential_epoch ?? 0 });
  },
};
