import { REASON_CODES, type ReasonCode } from '@purser/contract/reasons';
import { CONTRACT_STAGES, STAGES, type Stage } from '@purser/contract/stages';
import { DECISIONS, OUTCOME_STATES, REVIEW_STATES, STAGE_OUTCOMES } from '@purser/contract/values/decisions';
import type { Mode } from './agents.ts';
import type { Assessment } from './assessment.ts';
import type { Capability } from './capabilities.ts';
import type { Label } from './labels.ts';
import { sha256, shownHash, shownSha256 } from './ledger.ts';
import type { Reservation } from './reservations.ts';
import type { Review } from './reviews.ts';
import type { Action, TraceStep } from './spends.ts';

export { DECISIONS, OUTCOME_STATES, REVIEW_STATES, STAGE_OUTCOMES };

export type DecisionKind = (typeof DECISIONS)[number];

export { CONTRACT_STAGES, REASON_CODES, type ReasonCode, STAGES, type Stage };

export type StageOutcome = (typeof STAGE_OUTCOMES)[number];

/** An entry of `policy_trace`: what one stage found. Amounts are minor units of the request's currency. */
export interface StageFinding {
  stage: Stage;
  /** Which of the authority's limits it is about, where the stage judges by several. */
  name?: string;
  outcome: StageOutcome;
  reason_code: ReasonCode | null;
  observed: string | number | null;
  limit: string | number | null;
  detail: string;
}

/**
 * What the caller can do about a decision that is not ALLOW: the reasons that it clears, and what would be decided then if
 * nothing else changed. All but the last two alone take a DENY away.
 */
export type Remedy = { clears: ReasonCode[]; then: DecisionKind } & (
  | { type: 'REDUCE_AMOUNT'; max_amount_minor: number }
  /** ISO UTC; the earliest moment, if nobody spends meanwhile. */
  | { type: 'RETRY_AT'; at: string }
  | { type: 'USE_CURRENCY'; currency: string }
  | { type: 'CHOOSE_OTHER_MERCHANT' }
  /** Until then a person may allow it; null: at any time. */
  | { type: 'WAIT_FOR_REVIEW'; expires_at: string | null }
  | { type: 'ASK_OPERATOR' }
);

/** What the stages together say of a spend, as a decision tells it. */
export interface PublishedVerdict {
  decision: DecisionKind;
  reason_code: ReasonCode;
  reason_codes: ReasonCode[];
  /** What may be spent now: 0 on DENY and on REVIEW. */
  authorized_amount_minor: number;
  policy_trace: StageFinding[];
  explanation: string;
  purpose: Assessment;
}

export type ReviewState = (typeof REVIEW_STATES)[number];

export type OutcomeState = (typeof OUTCOME_STATES)[number];

/** A decision as the API returns it. */
export interface Decision {
  decision_id: string;
  decision: DecisionKind;
  effective_decision: DecisionKind;
  review_state: ReviewState | null;
  reason_code: ReasonCode;
  reason_codes: ReasonCode[];
  requested_amount_minor: number;
  authorized_amount_minor: number;
  currency: string;
  mode: Mode;
  explanation: string;
  policy_trace: StageFinding[];
  /** Decisions that were made before there were any have none. */
  remedies?: readonly Remedy[];
  purpose: Assessment;
  authority_version: number | null;
  authority_hash: string | null;
  /** Of the merchants listed for the agent when it was made; left out where none ever were. */
  directory_version?: number;
  reservation: Reservation;
  /** Issued only in ENFORCE. */
  capability: Capability | null;
  agent: { id: string; slug: string };
  action: Action;
  task: string | null;
  trace: TraceStep[] | null;
  limitable: boolean;
  min_amount_minor: number | null;
  context: Record<string, unknown> | null;
  /** The latest review. */
  review: Review | null;
  /** The newest label that no other one supersedes. */
  label: Label | null;
  outcome_state: OutcomeState;
  verified: boolean;
  created_at: string;
  requested_by: { key_id: string; principal_id: string | null };
  /** The request that made it; decisions that were made before it was kept have none. */
  request_id?: string;
}

/** The fields of a decision that the rules about its later states read. */
export type DecisionCore = Pick<
  Decision,
  | 'decision_id'
  | 'decision'
  | 'review_state'
  | 'authorized_amount_minor'
  | 'currency'
  | 'mode'
  | 'authority_version'
  | 'reservation'
  | 'capability'
  | 'agent'
  | 'action'
  | 'created_at'
>;

/** The effective decision: in SHADOW always `ALLOW`; in ENFORCE the decision itself, until a review settles it. */
export function effectiveDecision(
  mode: Mode,
  decision: DecisionKind,
  review_state: ReviewState | null,
): DecisionKind {
  if (mode === 'SHADOW') return 'ALLOW';
  if (review_state === 'ALLOWED') return 'ALLOW';
  if (review_state === 'DENIED') return 'DENY';
  return decision;
}

/** A decision as it is stored: `document` is the answer that was given, the other columns are for finding it. */
export interface DecisionRow {
  decision_id: string;
  agent_id: string;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body. */
  request_hash: Buffer;
  decision: DecisionKind;
  mode: Mode;
  reason_codes: ReasonCode[];
  merchant: string;
  requested_amount_minor: number;
  currency: string;
  created_at: string;
  /** The JSON text of the answer. A replay sends these bytes again. */
  document: string;
}

/** The row of a decision that was just made. */
export function decisionRow(
  { decision_id, agent, decision, mode, reason_codes, action, currency, created_at }: Decision,
  stored: Pick<DecisionRow, 'idempotency_key' | 'request_hash' | 'document'>,
): DecisionRow {
  const { merchant, amount_minor: requested_amount_minor } = action;
  const of_decision = { decision_id, agent_id: agent.id, decision, mode, reason_codes, currency, created_at };
  return { ...of_decision, merchant, requested_amount_minor, ...stored };
}

/** The answer that an idempotency key received before. */
export interface EarlierDecision {
  agent_id: string;
  idempotency_key: string;
  request_hash: Buffer;
  document: string;
}

/** The form of a decision that the ledger seals, its keys in the order of RFC 8785. */
export function sealedDecision(row: DecisionRow): Record<string, unknown> {
  return {
    agent_id: row.agent_id,
    created_at: row.created_at,
    currency: row.currency,
    decision: row.decision,
    decision_id: row.decision_id,
    document: shownSha256(row.document),
    idempotency_key: row.idempotency_key,
    merchant: row.merchant,
    mode: row.mode,
    reason_codes: row.reason_codes,
    request_hash: shownHash(row.request_hash),
    requested_amount_minor: row.requested_amount_minor,
  };
}

/**
 * The `data_hash` of a decision: SHA-256 of the RFC 8785 form of all columns, with the document's hash in its place.
 * JSON.stringify is enough, because it writes strings and whole numbers as RFC 8785 does and `sealedDecision` has the keys
 * in order: 5 instead of 8 µs for a decision of 3 KB, hashing included. A test compares the two.
 */
export function decisionDataHash(row: DecisionRow): Buffer {
  return sha256(JSON.stringify(sealedDecision(row)));
}
