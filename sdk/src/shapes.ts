import type { Decision } from './generated.ts';
import { isObject } from './options.ts';

/**
 * The required shape of a response. A proxy may answer instead of the service, with a success status and other JSON.
 */
export interface Shape {
  /** In errors: "The answer is no …". */
  name: string;
  holds(data: unknown): boolean;
}

/** A whole number from 0 that is exact. */
export const isAmount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isAmong = (value: unknown, ...known: string[]) => known.includes(value as string);
/** Three capital letters. */
export const isCurrency = (value: unknown) => typeof value === 'string' && /^[A-Z]{3}$/.test(value);
const isDecisionId = (value: unknown) => typeof value === 'string' && /^dec_[0-9A-Za-z]{1,60}$/.test(value);

function isCapability(value: unknown): boolean {
  return (
    isObject(value) &&
    isAmong(value.status, 'ISSUED', 'CONSUMED', 'EXPIRED', 'REVOKED') &&
    (value.token === undefined || isText(value.token)) &&
    (value.payee_id === null || isText(value.payee_id)) &&
    isAmount(value.max_amount_minor) &&
    isCurrency(value.currency)
  );
}

/** Returns true if it is a decision: every field by which a payment is made or refused is there, and of its type. */
export function isDecision(value: unknown): value is Decision {
  return (
    isObject(value) &&
    isDecisionId(value.decision_id) &&
    isAmong(value.mode, 'SHADOW', 'ENFORCE') &&
    isAmong(value.effective_decision, 'ALLOW', 'REVIEW', 'DENY') &&
    (value.review_state === null || isText(value.review_state)) &&
    isAmong(
      value.outcome_state,
      'NONE',
      'EXECUTED',
      'FAILED',
      'CANCELLED',
      'PARTIALLY_REFUNDED',
      'REFUNDED',
    ) &&
    isAmount(value.requested_amount_minor) &&
    isAmount(value.authorized_amount_minor) &&
    isCurrency(value.currency) &&
    (value.capability === null || isCapability(value.capability))
  );
}

const isPage = (value: unknown) =>
  isObject(value) &&
  Array.isArray(value.data) &&
  value.data.every(isObject) &&
  (value.next_cursor === null || isText(value.next_cursor));

const isConsumption = (value: unknown) =>
  isObject(value) &&
  isDecisionId(value.decision_id) &&
  value.status === 'CONSUMED' &&
  isAmount(value.amount_minor) &&
  isCurrency(value.currency);

const isOutcome = (value: unknown) =>
  isObject(value) && isDecisionId(value.decision_id) && isText(value.outcome_id) && isText(value.type);

// Without its id a spend would be asked for under no allowance.
const isAllowance = (value: unknown) => isObject(value) && isText(value.id);

/** The shapes that answers are held against. */
export const shapes = {
  object: { name: 'an object', holds: isObject },
  page: { name: 'a page of a list', holds: isPage },
  nothing: { name: 'a response without a body', holds: (data: unknown) => data === undefined },
  anything: { name: 'JSON', holds: () => true },
  decision: { name: 'a decision', holds: isDecision },
  consumption: { name: 'a consumption', holds: isConsumption },
  outcome: { name: 'an outcome', holds: isOutcome },
  allowance: { name: 'an allowance', holds: isAllowance },
} satisfies Record<string, Shape>;
