import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import type { Signature } from '@purser/contract/signing/fields';
import { STATEMENT_MINUTES } from '@purser/contract/values/signing';
import { shownSha256 } from '../domain/ledger.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { CLOCK_TOLERANCE_MS } from '../values/clock-tolerance.ts';

const MAX_AGE_MS = STATEMENT_MINUTES * 60_000;

/** The moment of a statement: the head of the chain that its signer signs along with it, and the database's time. */
export interface Moment {
  head: { seq: number; hash: string };
  issued_at: string;
}

/** The facts of an approval that a person signs: each field that decides what they allow or deny. */
export interface ApprovalFacts {
  workspace_id: string;
  decision_id: string;
  /** The `data_hash` of the decision's event. */
  decision_hash: string;
  action: string;
  reason_code: string;
  comment: string | null;
  remember: string | null;
  merchant: string;
  payee_id: string | null;
  /** The amount held for the decision, which an ALLOW lets be paid. */
  amount_minor: number;
  currency: string;
  principal_id: string;
  on_behalf_of: string | null;
}

/** A statement without its moment. */
export type Claim = { type: string } & Record<string, unknown>;

/** Returns the claim that a reviewer signs. */
export function approvalClaim({ comment, ...facts }: ApprovalFacts): Claim {
  return {
    type: 'purser.approval.v1',
    ...facts,
    comment_hash: comment === null ? null : shownSha256(comment),
  };
}

/** Returns the claim that a person signs whose passkey becomes a signing key. */
export function enrolmentClaim(of: { workspace_id: string; principal_id: string; user_id: string }): Claim {
  const { workspace_id, principal_id, user_id } = of;
  return { type: 'purser.signing-key.v1', workspace_id, principal_id, user_id };
}

/** Returns the claim that an administrator signs about another person's key. */
export function endorsementClaim(
  workspace_id: string,
  key: {
    signing_key_id: string;
    principal_id: string;
    credential_id: string;
    fingerprint: string;
    rp_id: string;
    origin: string;
  },
  endorsed_by: string,
): Claim {
  const { signing_key_id, principal_id, credential_id, fingerprint, rp_id, origin } = key;
  return {
    type: 'purser.signing-key-endorsement.v1',
    workspace_id,
    signing_key_id,
    principal_id,
    credential_id,
    fingerprint,
    rp_id,
    origin,
    endorsed_by,
  };
}

/** Returns the claim that an administrator signs about a review policy, or an end of one, with signed tiers. */
export function reviewPolicyClaim(of: {
  workspace_id: string;
  policy_hash: string;
  previous_hash: string;
  principal_id: string;
}): Claim {
  const { workspace_id, policy_hash, previous_hash, principal_id } = of;
  return { type: 'purser.review-policy.v1', workspace_id, policy_hash, previous_hash, principal_id };
}

/** Returns whether a review policy has a tier whose approvals must be signed. */
export function hasSignedTier({ tiers = [] }: Pick<ReviewPolicy, 'tiers'>): boolean {
  return tiers.some(({ signed }) => signed === true);
}

/** The RFC 8785 text of a claim at a moment. */
export function statementOf(claim: Claim, { head, issued_at }: Moment): string {
  return canonicalJson({ ...claim, head, issued_at });
}

const HASH = /^sha256:[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** The moment that a statement names; null where it names none. */
export function momentOf(statement: string): Moment | null {
  try {
    const { head, issued_at } = JSON.parse(statement) as Partial<Moment>;
    const { seq, hash } = head as Moment['head'];
    const is_moment =
      Number.isSafeInteger(seq) &&
      seq >= 0 &&
      HASH.test(hash) &&
      TIME.test(issued_at as string) &&
      !Number.isNaN(Date.parse(issued_at as string));
    return is_moment ? { head: { seq, hash }, issued_at: issued_at as string } : null;
  } catch {
    return null;
  }
}

/**
 * Returns why a statement does not say this claim, or was not made in the five minutes before `at_ms`; null: it does and
 * was. Every byte is compared.
 */
export function statementFault({ statement }: Signature, claim: Claim, at_ms: number): string | null {
  const moment = momentOf(statement);
  if (moment === null || statementOf(claim, moment) !== statement)
    return 'the statement differs from what it is given for';
  const age_ms = at_ms - Date.parse(moment.issued_at);
  if (age_ms > MAX_AGE_MS) return `the statement is older than ${STATEMENT_MINUTES} minutes`;
  return age_ms < -CLOCK_TOLERANCE_MS ? 'the statement is from the future' : null;
}
