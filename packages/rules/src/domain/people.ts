import type { INVITATION_STATUSES } from '@purser/contract/values/people';
import type { Role } from '@purser/contract/values/scopes';
import { foldCase, latinText, plainText } from '../merchants/names.ts';
import { CLOCK_TOLERANCE_MS } from '../values/clock-tolerance.ts';

/** A person, who may be a member of several workspaces. */
export interface User {
  user_id: string;
  /** As `normaliseEmail` returns it. Never changed. */
  email: string;
  name: string;
  /** PHC string; null: the person signs in without a password. */
  password_hash: string | null;
  created_at: string;
  disabled_at: string | null;
  /**
   * Credentials are good only in the epoch in which they were made. The first proof of the e-mail, a used reset link and
   * another password raise it.
   */
  credential_epoch: number;
  /** When the e-mail was first proved to be the person's: by a provider, the operator's link or the set-up. Null: never. */
  email_proved_at: string | null;
}

/** The person whom a credential names, as of the epoch in which it was read. */
export type Credited = Pick<User, 'user_id' | 'email' | 'credential_epoch'>;

/** A person's place in a workspace. A removed member's row stays, since reviews are attributed to the principal. */
export interface Member {
  user_id: string;
  /** The person's e-mail, sealed with the membership though it is kept with the person. */
  email: string;
  role: Role;
  /** The person to whom reviews are attributed. Nobody else in the workspace gets it, also after the person was removed. */
  principal_id: string;
  joined_at: string;
  removed_at: string | null;
  /** Until when the person is away; null: they are not. */
  away_until: string | null;
  /** The principal of the member who may use the person's place meanwhile. */
  away_delegate: string | null;
  /**
   * The person joined before the e-mail was proved to be theirs, so somebody else may have joined in their name: it gives
   * nothing until they accept it. Follows from `joined_at` and the person, so it is neither stored nor sealed.
   */
  is_pending: boolean;
  /** When the e-mail was first proved, which is kept with the person too. */
  email_proved_at: string | null;
}

/**
 * When a person joins who does so at `now`: never before their e-mail was proved, also where the clock was ahead then and was
 * set back since.
 */
export function joinedAt(now: string, email_proved_at: string | null): string {
  return email_proved_at !== null && email_proved_at > now ? email_proved_at : now;
}

/** An invitation to a workspace. Its link holds a token that is computed from its id; no row holds it. */
export interface Invitation {
  invitation_id: string;
  email: string;
  role: Role;
  /** The principal that the member will have; null: one made of the user's id. */
  principal_id: string | null;
  /** The key that invited; null: a person, the operator or the service did. */
  invited_by_key_id: string | null;
  /** The principal of the person who invited, or at the root of the key that did. Null: no person did. */
  invited_by_person: string | null;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  accepted_by: string | null;
  revoked_at: string | null;
}

export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/** The status of an invitation at `now_ms`. */
export function invitationStatus(
  invitation: Pick<Invitation, 'accepted_at' | 'revoked_at' | 'expires_at'>,
  now_ms: number,
): InvitationStatus {
  if (invitation.accepted_at !== null) return 'accepted';
  if (invitation.revoked_at !== null) return 'revoked';
  return Date.parse(invitation.expires_at) <= now_ms ? 'expired' : 'pending';
}

/** The state that makes a session valid: its row, the membership of its workspace, and the person. */
export interface SessionState {
  session_id: string;
  user_id: string;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  /** Null: the person is no member of the workspace, not any more, or has yet to accept it. */
  role: Role | null;
  disabled_at: string | null;
  /** It began in the person's present credential epoch. */
  is_of_epoch: boolean;
}

/** One message for sessions that are missing, unknown, over or without a workspace. */
export const NOT_SIGNED_IN = 'You are not signed in, or your session ended; sign in again.';

/**
 * True if a time is later than now. It was written while the clock was wrong, so nothing is known of how long ago it
 * was.
 */
export const isFuture = (time: string, now_ms: number): boolean =>
  Date.parse(time) > now_ms + CLOCK_TOLERANCE_MS;

/** The message of the 401 for a session that is not good at `now_ms`; null for a good one, in whatever role. */
export function sessionRefusal(session: SessionState, now_ms: number): string | null {
  const is_over =
    session.revoked_at !== null ||
    !session.is_of_epoch ||
    session.disabled_at !== null ||
    // It would last as long as the clock was ahead.
    isFuture(session.created_at, now_ms) ||
    Date.parse(session.expires_at) <= now_ms;
  return is_over ? NOT_SIGNED_IN : null;
}

/** The message for an invalid invitation link; the same for wrong, used, expired and revoked ones. */
export const INVALID_INVITATION = 'The invitation is wrong, used, expired or revoked; ask for a new one.';

/** The principal of a person who was given no other. */
export function principalOf(user_id: string): string {
  return `user:${user_id}`;
}

/** Returns whether a principal has the form of `principalOf`, which is kept for the person with that id. */
export function embedsUserId(principal_id: string): boolean {
  return /^user:usr_/.test(principal_id);
}

/** Invisible characters and marks of direction, but for those that scripts and emoji need: joiners, variation selectors. */
const HIDDEN = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cf}\p{DI}]/u;

/** Returns what is wrong with a person's name, as a phrase to follow the field's name; null if nothing is. */
export function nameProblem(name: string): string | null {
  if (HIDDEN.test(name)) return 'must not contain invisible characters or text direction marks';
  return plainText(name).trim() === '' ? 'must contain visible characters' : null;
}

/**
 * The form in which names of people are compared: two that a reader may take for one are one. Case, accents, blanks,
 * punctuation, invisible characters and letters that look alike do not count.
 */
export function nameKey(name: string): string {
  const plain = foldCase(latinText(foldCase(plainText(name))));
  const letters = plain.replaceAll(/[^\p{L}\p{N}|!]/gu, '');
  return letters === ''
    ? plain.trim()
    : letters
        .replaceAll('0', 'o')
        .replaceAll(/[i1|!]/g, 'l')
        .replaceAll('m', 'rn');
}

/** The form in which e-mails are compared and kept: trimmed, NFC, lower case. */
export function normaliseEmail(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}
