import { hash } from 'node:crypto';
import type { DecisionLink, LinkStatus } from '@purser/contract/sharing/links';

/** A read-only link of one decision. The token is in no row: it is shown once, when the link is made. */
export interface DecisionLinkRow {
  link_id: string;
  decision_id: string;
  token_digest: Buffer;
  key_id: string | null;
  principal_id: string | null;
  /** The principal of the person who made it, or who is at the root of the key that did; null if there is none. */
  made_by_person: string | null;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
}

const TOKEN = /^([0-9A-HJKMNP-TV-Z]{26})([0-9A-HJKMNP-TV-Z]{26})([A-Za-z0-9_-]{43})$/;

/** The token of a link: where its row is, and the secret that proves it. */
export function linkToken(workspace_id: string, link_id: string, secret: string): string {
  return `${workspace_id.slice('ws_'.length)}${link_id.slice('lnk_'.length)}${secret}`;
}

/** The parts of a token; null where the text is none. */
export function openLinkToken(
  token: string,
): { workspace_id: string; link_id: string; secret: string } | null {
  const [, workspace, link, secret] = TOKEN.exec(token) ?? [];
  if (workspace === undefined || link === undefined || secret === undefined) return null;
  return { workspace_id: `ws_${workspace}`, link_id: `lnk_${link}`, secret };
}

/** SHA-256 of a link's secret. Its 256 random bits cannot be guessed, so nothing has to slow a guess down. */
export const linkDigest = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** A link as the API shows it, without its token. */
export function linkBody(row: DecisionLinkRow, status: LinkStatus): DecisionLink {
  const { link_id, decision_id, key_id, principal_id, created_at, expires_at, revoked_at } = row;
  return {
    link_id,
    decision_id,
    status,
    created_by: { key_id, principal_id },
    created_at,
    expires_at,
    revoked_at,
  };
}

/** A link as audit records show it. */
export const auditedLink = ({ decision_id, expires_at, revoked_at }: DecisionLinkRow) => ({
  decision_id,
  expires_at,
  revoked_at,
});
