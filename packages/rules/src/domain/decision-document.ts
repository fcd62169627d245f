import type { Action, Decision, Remedy, Reservation, SpendRequest } from '@purser/contract/decisions';
import type { Capability } from '@purser/contract/records';
import type { Agent } from './agents.ts';
import { BY_AUTHORITY, type PurposeAssessment } from './assessment.ts';
import type { LiveFields } from './decision-states.ts';
import {
  type DecisionCore,
  type DecisionText,
  effectiveDecision,
  type PublishedVerdict,
  type StoredCore,
} from './decisions.ts';
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

/** A decision as it is first answered. Its JSON text has the fields in the order of this literal. */
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
    // Not `{ ...purpose, questions }`, which has a hidden class of its own (`docs/decisions/0233`).
    purpose: Object.assign({}, verdict.purpose, { questions: [...parts.questions] }),
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
    // Its labels' keys may be those of `DOCUMENT_MARKS`, so it comes after all of them.
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

/** The fields of `DecisionCore`. */
const CORE_FIELDS: Record<keyof DecisionCore, true> = {
  decision_id: true,
  decision: true,
  review_state: true,
  authorized_amount_minor: true,
  currency: true,
  mode: true,
  observed: true,
  authority_version: true,
  review_tier: true,
  review_policy_version: true,
  lease: true,
  reservation: true,
  capability: true,
  agent: true,
  action: true,
  created_at: true,
};

/** The fields of a document that change later, in the order in which a document has them. */
const LIVE_FIELDS = [
  'effective_decision',
  'review_state',
  'authorized_amount_minor',
  'reservation',
  'capability',
  'review',
  'label',
  'outcome_state',
  'verified',
] as const satisfies readonly (keyof Decision & keyof LiveFields)[];

/** Where `live_at` has the position of a field's value; below 0: the field does not change. */
const placeOf = (name: string): number => 2 * (LIVE_FIELDS as readonly string[]).indexOf(name);

/** Where `live_at` has the first of the runs of fields that the core consists of. */
const CORE_AT = 2 * LIVE_FIELDS.length;

/** A field as a document has it. */
interface Field {
  /** Its name as JSON text, with the sign before it. */
  as_first: string;
  as_next: string;
  place: number;
  is_core: boolean;
}

/** By name; a decision has no fields but those of its type. */
const fields = new Map<string, Field>();

function fieldOf(name: string): Field {
  const known = fields.get(name);
  if (known !== undefined) return known;
  const head = `"${name}":`;
  const field = {
    as_first: `{${head}`,
    as_next: `,${head}`,
    place: placeOf(name),
    is_core: name in CORE_FIELDS,
  };
  fields.set(name, field);
  return field;
}

/**
 * The text of a decision. The same bytes of its document are answered, stored, sealed and sent again on a replay. `document` is what
 * JSON.stringify writes.
 */
export function encodeDecision(decision: Decision): DecisionText {
  let document = '';
  const live_at = new Array<number>(CORE_AT);
  let is_within = false;
  for (const name in decision) {
    const value = decision[name as keyof Decision];
    const text = value === null ? 'null' : JSON.stringify(value);
    if (text === undefined) continue;
    const { as_first, as_next, place, is_core } = fieldOf(name);
    const begin = document.length + 1;
    document += document === '' ? as_first : as_next;
    if (place >= 0) {
      live_at[place] = document.length;
      live_at[place + 1] = document.length + text.length;
    }
    document += text;
    if (is_core) {
      if (is_within) live_at[live_at.length - 1] = document.length;
      else live_at.push(begin, document.length);
    }
    is_within = is_core;
  }
  return { document: `${document}}`, live_at };
}

/** The JSON text of the core that lies in a document. */
function coreIn(document: string, live_at: readonly number[]): string {
  let text = '';
  for (let i = CORE_AT; i < live_at.length; i += 2)
    text += `${text === '' ? '{' : ','}${document.slice(live_at[i], live_at[i + 1])}`;
  return `${text}}`;
}

/**
 * The core of a decision. The rest of its document is parsed too only in rows that are older than the positions. Null where the row
 * was altered so that its core is no JSON.
 */
export function decodeCore({ document, core, live_at }: StoredCore): DecisionCore | null {
  return parsed<DecisionCore>(core ?? (live_at === null ? document : coreIn(document, live_at)));
}

/** How many characters `decodeCore` parses. */
export function lengthOfCore({ document, core, live_at }: StoredCore): number {
  if (core !== null) return core.length;
  if (live_at === null) return document.length;
  let length = 0;
  for (let i = CORE_AT; i < live_at.length; i += 2)
    length += (live_at[i + 1] as number) - (live_at[i] as number);
  return length;
}

/** The JSON text of a decision as it is now: its document with other values of the fields that change. */
export function withLiveFields({ document, live_at }: DecisionText, live: LiveFields): string {
  let text = '';
  let end = 0;
  for (let i = 0; i < LIVE_FIELDS.length; i++) {
    text += document.slice(end, live_at[2 * i]) + JSON.stringify(live[LIVE_FIELDS[i] as keyof LiveFields]);
    end = live_at[2 * i + 1] as number;
  }
  // The one field that no document has.
  const { review_progress } = live;
  if (review_progress === undefined) return text + document.slice(end);
  return `${text}${document.slice(end, -1)},"review_progress":${JSON.stringify(review_progress)}}`;
}

/** Parses a stored document. Throws SyntaxError where the text is not JSON. */
export function decodeDecision(document: string): Decision {
  return JSON.parse(document) as Decision;
}

/**
 * Keys that a stored document is cut at where only a part of it is searched or shown. `storage/decisions.ts` cuts in SQL, because
 * PostgreSQL rejects JSON that holds what a customer may send, such as an escaped NUL. A JSON string holds no unescaped quote, so
 * a mark can only match a key. No object of a customer's comes before `context`, and every mark is looked for from the
 * beginning, but for `created_at`: none comes behind it, and it is looked for from the end.
 */
export const DOCUMENT_MARKS = {
  assessment: '"purpose":{"assessment":"',
  action: ',"action":',
  task: ',"task":',
  trace: ',"trace":',
  created_at: ',"created_at":',
} as const;

/** The action in the text that was cut out of a document; nothing where the document has another order than today's. */
export function actionIn(text: string): Partial<Action> {
  return parsed<Action>(text) ?? {};
}

/** The task in the text that was cut out of a document; null where it has none, or the document has another order than today's. */
export const taskIn = (text: string): string | null => parsed<string>(text);

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

/**
 * A document with the token put into its capability, which it must have. Tokens are never stored, so each answer inserts its
 * own. `live_at` null: the document is older than the positions, and is written again.
 */
export function withToken(
  { document, live_at }: { document: string; live_at: readonly number[] | null },
  token: string,
): string {
  if (live_at === null) {
    const decision = decodeDecision(document);
    return JSON.stringify({ ...decision, capability: { token, ...decision.capability } });
  }
  // Behind the brace.
  const at = (live_at[placeOf('capability')] as number) + 1;
  return `${document.slice(0, at)}"token":"${token}",${document.slice(at)}`;
}
