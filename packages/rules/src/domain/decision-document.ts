import type { Agent } from './agents.ts';
import type { Capability } from './capabilities.ts';
import { type Decision, effectiveDecision, type PublishedVerdict, type Remedy } from './decisions.ts';
import type { Reservation } from './reservations.ts';
import type { SpendRequest } from './spends.ts';

/** The parts of a new decision. */
export interface DecisionParts {
  decision_id: string;
  agent: Agent;
  request: SpendRequest;
  verdict: PublishedVerdict;
  remedies: readonly Remedy[];
  /** Version and hash of the authority it was decided by; null where the agent has none. */
  authority: { version: number; hash: string } | null;
  /** Version of the agent's merchant list; 0 if nothing was ever listed. */
  directory_version: number;
  reservation: Reservation;
  capability: Capability | null;
  created_at: string;
  requested_by: Decision['requested_by'];
  request_id: string | null;
}

/**
 * A decision as it is first answered. Its JSON text has the fields in the order of this literal, and four readers rely on
 * that order instead of parsing the whole text: `withToken`, `capabilityIdIn`, `requestIdIn` and the cut at `CORE_MARKS`.
 * So a new field goes before `explanation`, or where it separates no mark from its neighbour; a test fails otherwise.
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
    explanation: verdict.explanation,
    policy_trace: verdict.policy_trace,
    remedies: parts.remedies,
    purpose: verdict.purpose,
    authority_version: parts.authority?.version ?? null,
    authority_hash: parts.authority?.hash ?? null,
    ...(parts.directory_version === 0 ? {} : { directory_version: parts.directory_version }),
    reservation: parts.reservation,
    capability: parts.capability,
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
 * Keys that delimit a document's core: the text before `head`, and the text from `core` to `told`. The rest (the
 * explanation, the findings and the agent's own words) is three quarters of the document. A JSON string holds no
 * unescaped quote, so the marks can only match keys. Should one match a key of an inner object, the cut has unbalanced
 * brackets and does not parse.
 */
export const CORE_MARKS = {
  head: ',"explanation":',
  core: ',"authority_version":',
  told: ',"task":',
} as const;

const CAPABILITY = '"capability":';
/** A capability begins with its id. */
const CAPABILITY_ID = /^\{"capability_id":"(cap_[0-9A-Z]{26})"/;
const CAPABILITY_ID_WITHIN = 60;

/** The id of the capability in a document; undefined where none was issued. No earlier field holds `"capability":`. */
export function capabilityIdIn(document: string): string | undefined {
  const at = document.indexOf(CAPABILITY) + CAPABILITY.length;
  return CAPABILITY_ID.exec(document.slice(at, at + CAPABILITY_ID_WITHIN))?.[1];
}

/** The last field; in a request id nothing needs escaping. */
const REQUEST_ID = /"request_id":"([^"]+)"\}$/;
const REQUEST_ID_WITHIN = 160;

/** The id of the request that made a document's decision; undefined in documents that were made before it was stored. */
export function requestIdIn(document: string): string | undefined {
  return REQUEST_ID.exec(document.slice(-REQUEST_ID_WITHIN))?.[1];
}

/** A document with the token put into its capability. Tokens are never stored, so each answer inserts its own. */
export function withToken(document: string, token: string): string {
  const at = document.indexOf(CAPABILITY) + CAPABILITY.length;
  return `${document.slice(0, at)}{"token":"${token}",${document.slice(at + 1)}`;
}
