import type { Decision } from '@purser/contract/decisions';
import type { Signature } from '@purser/contract/signing/fields';
import type { Role } from '@purser/contract/values/scopes';
import { type LedgerBreak, recordHash, shownHash } from '../domain/ledger.ts';
import type { Decider } from '../reviews/places.ts';
import { type SignedTier, signedTierOf, TierApprovals } from '../reviews/signed-tiers.ts';
import { type Signer, signatureFault } from './assertion.ts';
import { RecentHashes } from './recent-hashes.ts';
import { signatureOf } from './records/signatures.ts';
import type { SigningKeyRow } from './records/signing-key.ts';
import { fingerprintOfKey } from './signing-keys.ts';
import {
  type ApprovalFacts,
  approvalClaim,
  type Claim,
  endorsementClaim,
  enrolmentClaim,
  hasSignedTier,
  momentOf,
  reviewPolicyClaim,
  statementFault,
} from './statements.ts';
import { UsedStatements } from './used-statements.ts';

/** The facts of a decision that a reviewer signs. */
export interface DecisionFacts
  extends Pick<
    ApprovalFacts,
    'decision_id' | 'decision_hash' | 'merchant' | 'payee_id' | 'amount_minor' | 'currency'
  > {
  /** Null: its approvals need no signature. */
  signed_tier: SignedTier | null;
}

/** The parts of a review that its signature is compared with. */
export interface SignedReview {
  action: string;
  reason_code: string;
  comment: string | null;
  remember?: string | null;
  on_behalf_of?: string | null;
  principal_id: string | null;
  created_at: string;
  /** As `signatureText` wrote it. */
  signature: string;
}

/** A key at the beginning of a chain of trust, and the part of the history that it covers. */
export interface SignerRoot {
  fingerprint: string;
  principal_id: string;
  from_seq: number;
  /** The event that ended it; null while it lasts. */
  until_seq: number | null;
  pinned: boolean;
}

/** The verdict on all signed approvals of a history. */
export interface ApprovalsVerdict {
  approvals: { signed: number; verified: number };
  signer_roots: SignerRoot[];
  /** True if the verifier named the roots that it trusts. */
  roots_pinned: boolean;
}

/** A key as the chain has proved it so far. */
interface ProvedKey {
  row: SigningKeyRow;
  /** The fingerprint of the root that its endorsements lead to; null: it signs nothing. */
  root: string | null;
}

interface KnownMember extends Decider {
  role: Role;
  removed_at: string | null;
}

const NEVER_AWAY = { away_until: null, away_delegate: null };

/** A member as an audit record seals them. */
type SealedMember = Omit<KnownMember, keyof typeof NEVER_AWAY> & { user_id: string };

/** A review policy as its audit record seals it. */
interface SealedPolicy {
  hash: string;
  policy: string;
  principal_id: string | null;
  signature?: string;
}

/** Returns why a signature does not prove a claim at `at_ms`; null: it does. The head is not compared. */
export function claimFault(signature: Signature, signer: Signer, claim: Claim, at_ms: number): string | null {
  return statementFault(signature, claim, at_ms) ?? signatureFault(signature, signer);
}

/** The claim of a review, from the facts of its decision. */
export function reviewClaim(
  workspace_id: string,
  decision: DecisionFacts,
  review: Omit<SignedReview, 'signature' | 'created_at'>,
): Claim {
  const { action, reason_code, comment, remember = null, on_behalf_of = null } = review;
  const { decision_id, decision_hash, merchant, payee_id, amount_minor, currency } = decision;
  return approvalClaim({
    workspace_id,
    decision_id,
    decision_hash,
    action,
    reason_code,
    comment,
    remember,
    merchant,
    payee_id,
    amount_minor,
    currency,
    principal_id: review.principal_id ?? '',
    on_behalf_of,
  });
}

/** The facts of a decision that its document has. */
export function factsOf(decision: Decision): Omit<DecisionFacts, 'decision_hash'> {
  const { decision_id, action, reservation } = decision;
  const { merchant, payee_id = null } = action;
  const { amount_minor, currency } = reservation;
  return {
    decision_id,
    merchant,
    payee_id,
    amount_minor,
    currency,
    signed_tier: signedTierOf(decision),
  };
}

/** The hash of the empty policy, version 0. */
const NO_POLICY_HASH = shownHash(recordHash({}));

/** The message for a payment that its tier did not let pass. */
export const paidUnsigned = (decision_id: string): string =>
  `The capability of decision ${decision_id} was used without the signed approvals of its tier.`;

const sameKey = (a: SigningKeyRow, b: SigningKeyRow) =>
  a.user_id === b.user_id &&
  a.principal_id === b.principal_id &&
  a.credential_id === b.credential_id &&
  a.public_key === b.public_key &&
  a.rp_id === b.rp_id &&
  a.origin === b.origin &&
  a.is_root === b.is_root;

/** A pin as it is compared: fingerprints are also written without the padding of base64. */
const withoutPadding = (fingerprint: string) => fingerprint.replace(/=+$/, '');

/**
 * Follows the signing keys along a chain and checks what they signed. It needs nothing but the events and what they
 * seal: not the database, and none of the service's secrets. Its methods must be called in the order of the chain.
 */
export class SigningHistory {
  readonly #workspace_id: string;
  readonly #pins: ReadonlySet<string> | null;
  readonly #recent = new RecentHashes();
  readonly #used = new UsedStatements();
  readonly #tiers = new TierApprovals();
  readonly #keys = new Map<string, ProvedKey>();
  readonly #members = new Map<string, KnownMember>();
  readonly #roots: SignerRoot[] = [];
  readonly #approvals = { signed: 0, verified: 0 };
  #policy = { hash: NO_POLICY_HASH, is_signed: false };

  /** `pins`: the fingerprints of the roots that are trusted; null: any root of the history. */
  constructor(workspace_id: string, pins: readonly string[] | null) {
    this.#workspace_id = workspace_id;
    this.#pins = pins === null ? null : new Set(pins.map(withoutPadding));
  }

  /** Takes the next event of the chain. */
  link(event: { seq: number; hash: Buffer; occurred_at: string }): void {
    this.#recent.add(event.seq, event.hash, Date.parse(event.occurred_at));
    this.#used.forgetBefore(this.#recent.first_seq);
  }

  /** Takes what an audit record sealed. Returns why a key is not what the record says; null: nothing is wrong. */
  audited(seq: number, created_at: string, state: Record<string, unknown>): LedgerBreak | null {
    try {
      return this.#audited(seq, created_at, state);
    } catch {
      // Written by somebody who could also make its hash right.
      return { seq, kind: 'SIGNATURE_INVALID', detail: `The record of event ${seq} cannot be read.` };
    }
  }

  #audited(seq: number, created_at: string, state: Record<string, unknown>): LedgerBreak | null {
    const member = state.member as SealedMember | undefined;
    if (member !== undefined) this.#members.set(member.user_id, { ...NEVER_AWAY, ...member });
    const policy = state.review_policy as SealedPolicy | undefined;
    if (policy !== undefined) return this.#policyBreak(seq, created_at, policy);
    const row = state.signing_key as SigningKeyRow | undefined;
    if (row === undefined) return null;
    const known = this.#keys.get(row.signing_key_id);
    const fault = this.#keyFault(seq, Date.parse(created_at), row, known);
    if (fault === null) return null;
    const detail = `The record of signing_key ${row.signing_key_id} does not prove it: ${fault}.`;
    return { seq, kind: 'SIGNATURE_INVALID', detail };
  }

  /** Takes a signed review. `decision` is undefined where it is unknown. Returns why its signature is no good; null: it is. */
  reviewed(seq: number, review: SignedReview, decision: DecisionFacts | undefined): LedgerBreak | null {
    this.#approvals.signed += 1;
    let fault: string | null;
    try {
      fault = this.#reviewFault(seq, review, decision);
    } catch {
      // The decision or the review has values that no service wrote.
      fault = 'it cannot be compared with its decision';
    }
    if (fault === null) {
      this.#approvals.verified += 1;
      return null;
    }
    return { seq, kind: 'SIGNATURE_INVALID', detail: `The signature of event ${seq} is not good: ${fault}.` };
  }

  /** Takes a review without a signature. Returns what is wrong where it had to have one. */
  unsigned(seq: number, action: string, decision: DecisionFacts | undefined): LedgerBreak | null {
    if (action !== 'ALLOW' || decision === undefined || decision.signed_tier === null) return null;
    const detail = `The approval of event ${seq} had to be signed, and is not.`;
    return { seq, kind: 'SIGNATURE_MISSING', detail };
  }

  /** Takes a new decision that waits for a person. Only of these does `consumed` know what they need. */
  begun({ decision_id, signed_tier }: DecisionFacts): void {
    if (signed_tier !== null) this.#tiers.begin(decision_id);
  }

  /** Takes the use of a decision's capability. Returns what is wrong where it had to have signed approvals. */
  consumed(seq: number, decision_id: string): LedgerBreak | null {
    if (!this.#tiers.isIncomplete(decision_id)) return null;
    return { seq, kind: 'SIGNATURE_MISSING', detail: paidUnsigned(decision_id) };
  }

  /** Counts a signed review that nothing here can be compared with. */
  unchecked(): void {
    this.#approvals.signed += 1;
  }

  verdict(): ApprovalsVerdict {
    return {
      approvals: { ...this.#approvals },
      signer_roots: this.#roots.map((root) => ({ ...root })),
      roots_pinned: this.#pins !== null,
    };
  }

  #isTrusted(root: string): boolean {
    return this.#pins === null || this.#pins.has(withoutPadding(root));
  }

  #headFault(seq: number, { statement }: Signature): string | null {
    const head = momentOf(statement)?.head;
    const hash = head === undefined || head.seq >= seq ? undefined : this.#recent.get(head.seq);
    if (head === undefined || hash === undefined) return 'it signs a head that the chain did not have then';
    return shownHash(hash) === head.hash ? null : `it signs another history: event ${head.seq} differs`;
  }

  #proofFault(
    seq: number,
    at_ms: number,
    { text, signer, claim }: { text: string | null; signer: Signer; claim: Claim },
  ): string | null {
    const signature = text === null ? null : signatureOf(text);
    if (signature === null) return 'the signature cannot be read';
    return (
      claimFault(signature, signer, claim, at_ms) ??
      this.#headFault(seq, signature) ??
      (this.#used.add(signature.statement) ? null : 'the statement was used before')
    );
  }

  #keyFault(seq: number, at_ms: number, row: SigningKeyRow, known: ProvedKey | undefined): string | null {
    if (known === undefined) return this.#enrolmentFault(seq, at_ms, row);
    const was = known.row;
    if (!sameKey(row, was)) return 'it is another key than was enrolled';
    this.#keys.set(row.signing_key_id, { row, root: row.status === 'ACTIVE' ? known.root : null });
    if (row.is_root && row.reset_at !== null) this.#endRoot(seq, row);
    if (row.status === was.status || row.status === 'REVOKED') return null;
    if (was.status === 'REVOKED') return 'a revoked key became active again';
    return this.#endorsementFault(seq, at_ms, row);
  }

  #policyBreak(seq: number, created_at: string, row: SealedPolicy): LedgerBreak | null {
    const before = this.#policy;
    this.#policy = { hash: row.hash, is_signed: hasSignedTier(JSON.parse(row.policy)) };
    if (!this.#policy.is_signed && !before.is_signed && row.signature === undefined) return null;
    const what = `The review policy of event ${seq}`;
    if (row.signature === undefined)
      return { seq, kind: 'SIGNATURE_MISSING', detail: `${what} had to be signed, and is not.` };
    const fault = this.#policyFault(seq, Date.parse(created_at), row.signature, {
      workspace_id: this.#workspace_id,
      policy_hash: row.hash,
      previous_hash: before.hash,
      principal_id: row.principal_id ?? '',
    });
    if (fault === null) return null;
    return { seq, kind: 'SIGNATURE_INVALID', detail: `${what} has a signature that is not good: ${fault}.` };
  }

  #policyFault(
    seq: number,
    at_ms: number,
    text: string,
    of: Parameters<typeof reviewPolicyClaim>[0],
  ): string | null {
    const key = this.#activeKey(text, of.principal_id);
    if (key === undefined) return 'no active signing key of its author made it';
    const member = this.#members.get(key.row.user_id);
    if (member?.role !== 'admin' || member.removed_at !== null) return 'no administrator made it';
    if (!this.#isTrusted(key.root)) return `its root ${key.root} is not among those that you trust`;
    return this.#proofFault(seq, at_ms, { text, signer: key.row, claim: reviewPolicyClaim(of) });
  }

  #activeKey(text: string, principal_id: string | null): { row: SigningKeyRow; root: string } | undefined {
    const id = signatureOf(text)?.response.id;
    for (const { row, root } of this.#keys.values()) {
      const is_it = row.credential_id === id && row.principal_id === principal_id;
      if (is_it && root !== null) return { row, root };
    }
    return undefined;
  }

  #endRoot(seq: number, row: SigningKeyRow): void {
    const fingerprint = fingerprintOfKey(row);
    const root = this.#roots.find((each) => each.fingerprint === fingerprint && each.until_seq === null);
    if (root !== undefined) root.until_seq = seq;
  }

  #enrolmentFault(seq: number, at_ms: number, row: SigningKeyRow): string | null {
    const proved: ProvedKey = { row, root: null };
    this.#keys.set(row.signing_key_id, proved);
    const claim = enrolmentClaim({ workspace_id: this.#workspace_id, ...row });
    const fault = this.#proofFault(seq, at_ms, { text: row.enrolment, signer: row, claim });
    if (fault !== null) return fault;
    const is_first = this.#roots.every((root) => root.until_seq !== null);
    if (row.status === 'PENDING' && !row.is_root) return null;
    if (row.status !== 'ACTIVE' || !row.is_root) return 'it was neither the root nor pending';
    if (!is_first) return 'there was a root already';
    const { principal_id } = row;
    const fingerprint = fingerprintOfKey(row);
    proved.root = fingerprint;
    const pinned = this.#pins !== null && this.#isTrusted(fingerprint);
    this.#roots.push({ fingerprint, principal_id, from_seq: seq, until_seq: null, pinned });
    return null;
  }

  #endorsementFault(seq: number, at_ms: number, row: SigningKeyRow): string | null {
    const by = this.#keys.get(row.endorsed_by ?? '');
    if (by === undefined || by.root === null) return 'no active key endorsed it';
    if (by.row.user_id === row.user_id) return 'its owner endorsed it';
    const member = this.#members.get(by.row.user_id);
    if (member?.role !== 'admin' || member.removed_at !== null) return 'no administrator endorsed it';
    const key = { ...row, fingerprint: fingerprintOfKey(row) };
    const claim = endorsementClaim(this.#workspace_id, key, by.row.principal_id);
    const fault = this.#proofFault(seq, at_ms, { text: row.endorsement, signer: by.row, claim });
    if (fault === null) this.#keys.set(row.signing_key_id, { row, root: by.root });
    return fault;
  }

  #reviewFault(seq: number, review: SignedReview, decision: DecisionFacts | undefined): string | null {
    // One that proves nothing is reported as such; that it is there counts all the same.
    const uncounted = decision === undefined ? 'its decision is unknown' : this.#tierFault(review, decision);
    const key = this.#activeKey(review.signature, review.principal_id);
    if (key === undefined) return 'no active signing key of the reviewer made it';
    if (this.#members.get(key.row.user_id)?.removed_at !== null) return 'its signer was not a member';
    if (!this.#isTrusted(key.root)) return `its root ${key.root} is not among those that you trust`;
    if (decision === undefined) return uncounted;
    const claim = reviewClaim(this.#workspace_id, decision, review);
    const at_ms = Date.parse(review.created_at);
    return this.#proofFault(seq, at_ms, { text: review.signature, signer: key.row, claim }) ?? uncounted;
  }

  #tierFault(review: SignedReview, { decision_id, signed_tier }: DecisionFacts): string | null {
    if (review.action !== 'ALLOW' || signed_tier === null) return null;
    const { principal_id, on_behalf_of = null, created_at } = review;
    const approval = { principal_id: principal_id ?? '', on_behalf_of, at_ms: Date.parse(created_at) };
    const members = [...this.#members.values()].filter(({ removed_at }) => removed_at === null);
    return this.#tiers.add(decision_id, signed_tier, approval, members);
  }
}
