import type { Agent } from './agents.ts';
import type { Capability } from './capabilities.ts';
import type { Verdict } from './decide.ts';
import { type Decision, effectiveDecision } from './decisions.ts';
import type { Reservation } from './reservations.ts';
import type { SpendRequest } from './spends.ts';

/** What a decision is put together from when it is made. */
export interface MadeDecision {
  decision_id: string;
  agent: Agent;
  request: SpendRequest;
  verdict: Verdict;
  /** Version and hash of the authority it was decided by; null where the agent has none. */
  authority: { version: number; hash: string } | null;
  reservation: Reservation;
  capability: Capability | null;
  created_at: string;
  requested_by: Decision['requested_by'];
}

/**
 * A decision as it is first answered. Its fields are written in the order of this literal, and three readers go by that
 * order instead of parsing the whole text: `withToken`, `capabilityIdOf` and the cut of `CORE_MARKS`. So a new field goes
 * either before `explanation`, or between two fields that stay neighbours of the marks; a test holds them together.
 */
export function composeDecision(made: MadeDecision): Decision {
  const { decision_id, agent, request, verdict } = made;
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
    explanation: verdict.explanation,
    policy_trace: verdict.policy_trace,
    purpose: verdict.purpose,
    authority_version: made.authority?.version ?? null,
    authority_hash: made.authority?.hash ?? null,
    reservation: made.reservation,
    capability: made.capability,
    agent: { id: agent.agent_id, slug: agent.slug },
    action,
    task: request.task ?? null,
    trace: request.trace ?? null,
    limitable: request.limitable ?? false,
    min_amount_minor: request.min_amount_minor ?? null,
    context: request.context ?? null,
    review: null,
    label: null,
    outcome_state: 'NONE',
    verified: false,
    created_at: made.created_at,
    requested_by: made.requested_by,
  };
}

/** The JSON text of a decision: what is answered, stored, sealed and sent again on a replay, byte for byte. */
export function encodeDecision(decision: Decision): string {
  return JSON.stringify(decision);
}

/** Reads a stored document. Throws SyntaxError where the text is no JSON. */
export function decodeDecision(document: string): Decision {
  return JSON.parse(document) as Decision;
}

/**
 * Keys between which a document's core lies: what stands before `head`, and what stands from `core` to `told`. What is
 * left out (the explanation, the findings and what the agent told) is three quarters of the text. In a JSON text no
 * unescaped quote lies within a string, so the marks are keys; whichever object they may be of, a piece that is cut out
 * of any but the outermost has brackets without partners and does not parse.
 */
export const CORE_MARKS = {
  head: ',"explanation":',
  core: ',"reservation":',
  told: ',"task":',
} as const;

const CAPABILITY = '"capability":';
/** A capability begins with its id. */
const CAPABILITY_ID = /^\{"capability_id":"(cap_[0-9A-Z]{26})"/;
const CAPABILITY_ID_WITHIN = 60;

/** The id of the capability in a document; undefined where none was issued. The first `"capability":` is the field itself. */
export function capabilityIdIn(document: string): string | undefined {
  const at = document.indexOf(CAPABILITY) + CAPABILITY.length;
  return CAPABILITY_ID.exec(document.slice(at, at + CAPABILITY_ID_WITHIN))?.[1];
}

/** A document whose capability carries its token; the token is kept nowhere, so it is put in anew for each answer. */
export function withToken(document: string, token: string): string {
  const at = document.indexOf(CAPABILITY) + CAPABILITY.length;
  return `${document.slice(0, at)}{"token":"${token}",${document.slice(at + 1)}`;
}
