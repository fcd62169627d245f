import { timingSafeEqual } from 'node:crypto';
import type { User } from '@purser/rules/domain/people';
import type { Mac } from '../installation/secrets.ts';

const RESET_HOURS = 24;
const HOUR_MS = 3_600_000;

/** The message for an invalid password link. */
export const INVALID_RESET = 'The link is wrong, used or expired; ask the operator for a new one.';

/** The tokens in links. They are computed from what they stand for, so that nothing in the database could make one. */
export interface LinkTokens {
  invitation(workspace_id: string, invitation_id: string): string;
  /** The contents of an invitation token; null if it is not ours or was altered. */
  openInvitation(token: string): { workspace_id: string; invitation_id: string } | null;
  /** A token that sets a new password in the person's present credential epoch, which ends that epoch; good for a day. */
  reset(user: Pick<User, 'user_id' | 'credential_epoch'>, now_ms: number): string;
  /** Whose password a token is said to set; what it says is not proved. */
  userOfReset(token: string): string | null;
  /** Returns whether a token was made in the present credential epoch of this person, and has not expired. */
  isReset(token: string, user: Pick<User, 'user_id' | 'credential_epoch'>, now_ms: number): boolean;
}

const INVITATION = /^(ws_[0-9A-HJKMNP-TV-Z]{26})\.(inv_[0-9A-HJKMNP-TV-Z]{26})\.([A-Za-z0-9_-]{43})$/;
const RESET = /^(usr_[0-9A-HJKMNP-TV-Z]{26})\.(\d{13,15})\.([A-Za-z0-9_-]{43})$/;

/** Makes them. The first of `macs` proves new tokens; any of them may have proved an earlier one. */
export function makeLinkTokens(macs: readonly [Mac, ...Mac[]]): LinkTokens {
  const isProof = (given: string, text: string) =>
    macs.some((mac) => {
      const expected = Buffer.from(mac(text).toString('base64url'));
      const proof = Buffer.from(given);
      return proof.length === expected.length && timingSafeEqual(proof, expected);
    });
  const prove = (text: string) => macs[0](text).toString('base64url');
  const ofInvitation = (workspace_id: string, invitation_id: string) =>
    `invitation\n${workspace_id}\n${invitation_id}`;
  const ofReset = (user_id: string, expires_ms: string, credential_epoch: number) =>
    `reset of epoch\n${user_id}\n${expires_ms}\n${credential_epoch}`;
  return {
    invitation: (workspace_id, invitation_id) =>
      `${workspace_id}.${invitation_id}.${prove(ofInvitation(workspace_id, invitation_id))}`,
    openInvitation(token) {
      const [, workspace_id, invitation_id, proof] = INVITATION.exec(token) ?? [];
      if (workspace_id === undefined || invitation_id === undefined) return null;
      const is_good = isProof(proof as string, ofInvitation(workspace_id, invitation_id));
      return is_good ? { workspace_id, invitation_id } : null;
    },
    reset({ user_id, credential_epoch }, now_ms) {
      const expires_ms = String(now_ms + RESET_HOURS * HOUR_MS);
      return `${user_id}.${expires_ms}.${prove(ofReset(user_id, expires_ms, credential_epoch))}`;
    },
    userOfReset: (token) => RESET.exec(token)?.[1] ?? null,
    isReset(token, user, now_ms) {
      const [, user_id, expires_ms, proof] = RESET.exec(token) ?? [];
      if (user_id !== user.user_id || Number(expires_ms) <= now_ms) return false;
      return isProof(proof as string, ofReset(user_id, expires_ms as string, user.credential_epoch));
    },
  };
}
