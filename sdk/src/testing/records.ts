import type {
  Capability,
  ConsumeRequest,
  Consumption,
  Decision,
  DecisionRequest,
  ErrorCode,
  Mode,
  Outcome,
  OutcomeRequest,
  RecordedReview,
  Remedy,
  ReviewRequest,
} from '../types.ts';

/** A rule's decision about a request. */
export type Verdict =
  | Decision['decision']
  | (Pick<Decision, 'decision'> &
      Partial<Pick<Decision, 'reason_code' | 'explanation' | 'authorized_amount_minor' | 'mode'>>);

/** A refusal of the fake, in the words of the service's table of errors. */
export class Refused extends Error {
  readonly status: number;
  readonly code: ErrorCode;

  constructor(status: number, code: ErrorCode, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The same idempotency key came with another body. */
export const keyConflict = () =>
  new Refused(409, 'idempotency_conflict', 'The idempotency key was already used for a different request.');

/** One decision and all that is known of it. */
export interface Kept {
  request: string;
  /** As it was answered at first. */
  document: string;
  request_id: string;
  current: Decision;
  outcomes: Outcome[];
  consumption: { key: string; body: string; answer: Consumption } | null;
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const NOW = () => new Date().toISOString();
const WHO = { key_id: 'key_00000000000000000000000000', principal_id: null };
const REVIEWER = { key_id: 'key_00000000000000000000000001', principal_id: 'user:reviewer' };
const CAPABILITY_TTL_MS = 900_000;
const REASONS = { ALLOW: 'WITHIN_AUTHORITY', REVIEW: 'PURPOSE_UNCLEAR', DENY: 'MERCHANT_BLOCKED' } as const;

/** An id in the service's form. */
export function newId(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(26));
  return `${prefix}_0${Array.from(random.subarray(1), (byte) => ALPHABET[byte % 32]).join('')}`;
}

/** JSON with its keys in order: two bodies that say the same are the same text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function issued(decision: Decision): Capability {
  const id = decision.decision_id.replace('dec_', 'cap_');
  return {
    token: `${id}.fake`,
    capability_id: id,
    status: 'ISSUED',
    max_amount_minor: decision.reservation.amount_minor,
    currency: decision.currency,
    merchant: decision.action.merchant,
    payee_id: decision.action.payee_id ?? null,
    issued_at: NOW(),
    expires_at: new Date(Date.now() + CAPABILITY_TTL_MS).toISOString(),
    consumed_at: null,
  };
}

const REMEDIES: Record<Decision['decision'], (code: Decision['reason_code']) => Remedy[]> = {
  ALLOW: () => [],
  REVIEW: (code) => [{ type: 'WAIT_FOR_REVIEW', expires_at: null, clears: [code], then: 'ALLOW' }],
  DENY: (code) => [{ type: 'ASK_OPERATOR', clears: [code], then: 'ALLOW' }],
};

/** A fresh decision with this verdict. */
export function decide(
  body: DecisionRequest,
  verdict: Verdict,
  default_mode: Mode,
  agent: Decision['agent'],
): Decision {
  const told = typeof verdict === 'string' ? { decision: verdict } : verdict;
  const { action } = body;
  const { decision, mode = default_mode, reason_code = REASONS[decision] } = told;
  const authorized = decision === 'ALLOW' ? (told.authorized_amount_minor ?? action.amount_minor) : 0;
  const held = decision === 'REVIEW' ? action.amount_minor : authorized;
  const decision_id = newId('dec');
  const budget = { limit_minor: null, held_minor: held, committed_minor: 0, remaining_minor: null };
  const made: Decision = {
    decision_id,
    decision,
    effective_decision: mode === 'SHADOW' ? 'ALLOW' : decision,
    review_state: decision === 'REVIEW' ? 'PENDING' : null,
    reason_code,
    reason_codes: [reason_code],
    requested_amount_minor: action.amount_minor,
    authorized_amount_minor: authorized,
    currency: action.currency,
    mode,
    explanation: told.explanation ?? `The fake decided ${decision}.`,
    policy_trace: [],
    remedies: REMEDIES[decision](reason_code),
    purpose: {
      assessment: decision === 'REVIEW' ? 'PURPOSE_UNCLEAR' : 'PURPOSE_ALIGNED',
      confidence: 1,
      method: 'fake',
      rationale: '',
      evidence: [],
    },
    authority_version: 1,
    authority_hash: `sha256:${'0'.repeat(64)}`,
    reservation: {
      reservation_id: decision === 'DENY' ? null : decision_id.replace('dec_', 'rsv_'),
      status: decision === 'DENY' ? 'NONE' : 'HELD',
      amount_minor: held,
      currency: action.currency,
      period: NOW().slice(0, 7),
      expires_at: null,
      budget,
    },
    capability: null,
    agent,
    action,
    task: body.task ?? null,
    trace: body.trace ?? null,
    limitable: body.limitable ?? false,
    min_amount_minor: body.min_amount_minor ?? null,
    context: body.context ?? null,
    review: null,
    label: null,
    outcome_state: 'NONE',
    verified: false,
    created_at: NOW(),
    requested_by: WHO,
  };
  return mode === 'ENFORCE' && decision === 'ALLOW' ? { ...made, capability: issued(made) } : made;
}

/** Records a review. Refuses what the service refuses. */
export function review(kept: Kept, body: ReviewRequest): RecordedReview {
  const { current } = kept;
  if (current.decision !== 'REVIEW')
    throw new Refused(409, 'not_reviewable', 'Only a REVIEW decision can be reviewed.');
  if (current.review !== null && current.mode === 'ENFORCE') {
    throw new Refused(409, 'review_final', 'In ENFORCE a review is final.');
  }
  const recorded = {
    review_id: newId('rev'),
    decision_id: current.decision_id,
    action: body.action,
    reason_code: body.reason_code,
    comment: body.comment ?? null,
    supersedes: body.supersedes ?? null,
    ...REVIEWER,
    by_key_maker: false,
    created_at: NOW(),
  };
  current.review = recorded;
  const allowed = body.action === 'ALLOW';
  current.review_state = allowed ? 'ALLOWED' : 'DENIED';
  current.authorized_amount_minor = allowed ? current.reservation.amount_minor : 0;
  if (!allowed) current.reservation.status = 'RELEASED';
  if (current.mode === 'ENFORCE') {
    current.effective_decision = body.action;
    if (allowed && current.outcome_state === 'NONE') current.capability = issued(current);
  }
  const { token: _, ...capability } = current.capability ?? ({} as Capability);
  return {
    ...recorded,
    effective_decision: current.effective_decision,
    ...(current.capability === null ? {} : { capability }),
  };
}

/** A name without what a card's statement adds to it: a processor's prefix, a legal form, a number and what follows them. */
const plainName = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^[a-z]{2,6} ?\*/, '')
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/,.*| #.*| \S*\d{3}.*/, '')
    .replace(/ (?:gmbh|inc|corp|ltd|llc|limited|sarl|s\.?a\.?)\b.*$/, '');
const sameName = (one: string, other: string) => plainName(one) === plainName(other);

/** Consumes the capability of a decision. Refuses what the service refuses, in its order. */
export function consume(
  kept: Kept,
  key: string,
  body: ConsumeRequest,
): { replayed: boolean; answer: Consumption } {
  const capability = kept.current.capability as Capability;
  const text = canonical(body);
  if (kept.consumption?.key === key) {
    if (kept.consumption.body === text) return { replayed: true, answer: kept.consumption.answer };
    throw keyConflict();
  }
  const refuse = (status: number, code: ErrorCode, message: string): never => {
    throw new Refused(status, code, message);
  };
  if (capability.status === 'CONSUMED') {
    refuse(409, 'capability_used', `The capability was consumed at ${capability.consumed_at}.`);
  }
  if (capability.status === 'REVOKED') refuse(409, 'capability_revoked', 'The capability was revoked.');
  if (capability.status === 'EXPIRED') refuse(409, 'capability_expired', 'The capability expired.');
  if (capability.payee_id !== null && capability.payee_id !== body.payee_id) {
    refuse(422, 'payee_mismatch', `Only ${capability.payee_id} may be paid.`);
  }
  if (body.merchant !== undefined && !sameName(body.merchant, capability.merchant)) {
    refuse(422, 'merchant_mismatch', `The capability is for "${capability.merchant}".`);
  }
  if (body.currency !== capability.currency) refuse(422, 'currency_mismatch', 'The currency differs.');
  if (body.amount_minor > capability.max_amount_minor) {
    refuse(422, 'amount_exceeds_authorized', `At most ${capability.max_amount_minor} may be paid.`);
  }
  capability.status = 'CONSUMED';
  capability.consumed_at = NOW();
  const { decision_id, agent } = kept.current;
  const answer: Consumption = {
    capability_id: capability.capability_id,
    decision_id,
    agent,
    status: 'CONSUMED',
    amount_minor: body.amount_minor,
    currency: body.currency,
    payee_id: body.payee_id ?? capability.payee_id,
    consumed_at: capability.consumed_at,
  };
  kept.consumption = { key, body: text, answer };
  return { replayed: false, answer };
}

/**
 * Records an outcome. Each source settles once, but the payment rail may raise what it executed; refunds need an execution
 * and give back no more than it.
 */
export function report(kept: Kept, body: OutcomeRequest): { repeated: boolean; answer: Outcome } {
  const { current, outcomes } = kept;
  const { type, currency = current.currency, source = 'CLIENT_REPORTED' } = body;
  if (currency !== current.currency) throw new Refused(422, 'currency_mismatch', 'The currency differs.');
  if (body.amount_minor === undefined && (type === 'SPEND_EXECUTED' || type === 'PARTIALLY_REFUNDED')) {
    throw new Refused(400, 'invalid_request', 'amount_minor: is required');
  }
  const reference = body.external_reference ?? null;
  const repeat = outcomes.find(
    (each) =>
      each.type === type &&
      each.source === source &&
      each.external_reference === reference &&
      each.amount_minor === (body.amount_minor ?? null),
  );
  if (repeat !== undefined) return { repeated: true, answer: repeat };
  const conflict = (message: string) => new Refused(409, 'outcome_conflict', message);
  const executedBy = (said: Outcome['source']) =>
    Math.max(
      0,
      ...outcomes
        .filter((each) => each.type === 'SPEND_EXECUTED' && each.source === said)
        .map((each) => each.amount_minor ?? 0),
    );
  const executed = () => executedBy('PAYMENT_RAIL') || executedBy('CLIENT_REPORTED');
  const refunds = outcomes.filter((each) => each.type.endsWith('REFUNDED'));
  const refunded = refunds.reduce((sum, each) => sum + (each.amount_minor ?? 0), 0);
  const left = executed() - refunded;
  const is_refund = type.endsWith('REFUNDED');
  const amount = type === 'REFUNDED' ? (body.amount_minor ?? left) : (body.amount_minor ?? null);
  if (is_refund && (left === 0 || (amount ?? 0) > left))
    throw conflict('The refund would exceed the executed amount.');
  const is_settled = outcomes.some((each) => each.source === source && !each.type.endsWith('REFUNDED'));
  const captured = type === 'SPEND_EXECUTED' && source === 'PAYMENT_RAIL' ? executedBy(source) : 0;
  if (!is_refund && is_settled && (captured === 0 || (amount ?? 0) < captured)) {
    throw conflict('A different outcome was reported before.');
  }
  const answer: Outcome = {
    outcome_id: newId('out'),
    decision_id: current.decision_id,
    type,
    amount_minor: amount,
    currency,
    external_reference: reference,
    occurred_at: body.occurred_at ?? NOW(),
    source,
    reported_by: WHO,
    recorded_at: NOW(),
    flags: captured > 0 && (amount ?? 0) > captured ? ['ADJUSTED'] : [],
  };
  outcomes.push(answer);
  const settled = {
    SPEND_EXECUTED: 'EXECUTED',
    SPEND_FAILED: 'FAILED',
    SPEND_CANCELLED: 'CANCELLED',
  } as const;
  const back = refunded + (is_refund ? (amount ?? 0) : 0);
  if (back > 0) current.outcome_state = back < executed() ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
  else current.outcome_state = settled[type as keyof typeof settled];
  if (current.capability?.status === 'ISSUED') current.capability.status = 'REVOKED';
  current.verified = source === 'PAYMENT_RAIL';
  return { repeated: false, answer };
}
