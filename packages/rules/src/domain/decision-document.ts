import type { Action, Decision, Remedy, Reservation, SpendRequest } from '@purser/contract/decisions';
import type { Capability } from '@purser/contract/records';
import type { Agent } from './agents.ts';
import { BY_AUTHORITY, type PurposeAssessment } from './assessment.ts';
import { type DecisionCore, effectiveDecision, type PublishedVerdict } from './decisions.ts';
import type { DecisionQuestion } from './question-history.ts';

/** The parts of a new decision. */
export interface DecisionParts {
  decision_id: string;
  agent: Agent;
  request: SpendRequest;
  /** The card authorization that it was made of, where nobody asked. */
  observed?: Decision['observed'];
  verdict: PublishedVerdict;
  remedies: readonly Remedy[];
  /** Version and hash of the authority it was decided by; null where the agent has none. */
  authority: { version: number; hash: string } | null;
  /** Version of the agent's merchant list; 0 if nothing was ever listed. */
  directory_version: number;
  /** The version and the tier of the review policy, where one applies. */
  review_terms: Pick<Decision, 'review_tier' | 'review_policy_version'>;
  /** Those that the assessment raised. */
  questions: readonly DecisionQuestion[];
  /** The allowance that it was made under. */
  allowance: NonNullable<Decision['allowance']> | null;
  /** The standing approval that was used in place of a review. */
  standing_approval?: NonNullable<Decision['standing_approval']> | undefined;
  reservation: Reservation;
  capability: Capability | null;
  created_at: string;
  requested_by: Decision['requested_by'];
  request_id: string | null;
}

/**
 * A decision as it is first answered. Its JSON text has the fields in the order of this literal, and `withToken` and
 * `DOCUMENT_MARKS` rely on that order. So a new field goes before `explanation`, or where it separates no mark from its
 * neighbour; a test fails otherwise.
 */
export function composeDecision(parts: DecisionParts): Decision {
  const { decision_id, agent, request, verdict } = parts;
  const { action } = request;
  const { mode } = agent;
  const { decision } = verdict;
  const review_state = decision === 'REVIEW' ? 'PENDING' : null;
  return {
    decision_id,
    decision,
    effective_decision: effectiveDecision(mode, decision, review_state),
    review_state,
    reason_code: verdict.reason_code,
    reason_codes: verdict.reason_codes,
    requested_amount_minor: action.amount_minor,
    authorized_amount_minor: verdict.authorized_amount_minor,
    currency: action.currency,
    mode,
    ...(parts.observed === undefined ? {} : { observed: parts.observed }),
    explanation: verdict.explanation,
    policy_trace: verdict.policy_trace,
    remedies: parts.remedies,
    purpose: { ...verdict.purpose, questions: [...parts.questions] },
    authority_version: parts.authority?.version ?? null,
    authority_hash: parts.authority?.hash ?? null,
    ...(parts.directory_version === 0 ? {} : { directory_version: parts.directory_version }),
    ...parts.review_terms,
    ...(verdict.purpose.method === BY_AUTHORITY ? { lease: true as const } : {}),
    reservation: parts.reservation,
    capability: parts.capability,
    agent: { id: agent.agent_id, slug: agent.slug },
    action,
    task: request.task ?? null,
    trace: request.trace ?? null,
    limitable: request.limitable ?? false,
    min_amount_minor: request.min_amount_minor ?? null,
    ...(parts.standing_approval === undefined ? {} : { standing_approval: parts.standing_approval }),
    // Its labels' keys may be those of marks, so it comes after all of them.
    ...(parts.allowance === null ? {} : { allowance: parts.allowance }),
    context: request.context ?? null,
    review: null,
    label: null,
    outcome_state: 'NONE',
    verified: false,
    created_at: parts.created_at,
    requested_by: parts.requested_by,
    ...(parts.request_id === null ? {} : { request_id: parts.request_id }),
  };
}

/** The JSON text of a decision. The same bytes are answered, stored, sealed and sent again on a replay. */
export function encodeDecision(decision: Decision): string {
  return JSON.stringify(decision);
}

/** Parses a stored document. Throws SyntaxError where the text is not JSON. */
export function decodeDecision(document: string): Decision {
  return JSON.parse(document) as Decision;
}

/**
 * Keys that a stored document is cut at, so that only a part of it is transferred and parsed. `storage/decisions.ts`
 * cuts in SQL, because PostgreSQL rejects JSON that holds what a customer may send, such as an escaped NUL. A JSON string
 * holds no unescaped quote, so a mark can only match a key. No object of a customer's comes before `context`, and every mark
 * is looked for from the beginning. A text that was cut where no mark was does not parse, and its reader then says so.
 */
export const DOCUMENT_MARKS = {
  explanation: ',"explanation":',
  assessment: '"purpose":{"assessment":"',
  authority: ',"authority_version":',
  action: ',"action":',
  task: ',"task":',
  trace: ',"trace":',
} as const;

/** The core in the text that was cut out of a document; null where the document has another order than today's. */
export function coreIn(text: string): Omit<DecisionCore, 'created_at'> | null {
  return parsed<Omit<DecisionCore, 'created_at'>>(text);
}

/** The action in the text that was cut out of a document; nothing where the document has another order than today's. */
export function actionIn(text: string): Partial<Action> {
  return parsed<Action>(text) ?? {};
}

/** The assessment in a text that begins with its mark; null for any other text. */
export function assessmentIn(text: string | null): PurposeAssessment | null {
  const mark = DOCUMENT_MARKS.assessment;
  const found = text?.startsWith(mark) ? text.slice(mark.length).split('"', 1)[0] : undefined;
  return (found as PurposeAssessment | undefined) ?? null;
}

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

const CAPABILITY = '"capability":';

/**
 * A document with the token put into its capability, which it must have. Tokens are never stored, so each answer inserts its
 * own. No earlier field holds this key.
 */
export function withToken(document: string, token: string): string {
  const at = document.indexOf(CAPABILITY) + CAPABILITY.length;
  return `${document.slice(0, at)}{"token":"${token}",${document.slice(at + 1)}`;
}
