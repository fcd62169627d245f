import type { ReasonCode } from '../reasons.ts';

export const ALLOWANCE_STATUSES = ['REQUESTED', 'OPEN', 'DENIED', 'EXHAUSTED', 'EXPIRED', 'REVOKED'] as const;

/** The origins of an allowance: a call, a granted request, a review, another system's signature, or a mandate. */
export const ALLOWANCE_SOURCES = ['API', 'REQUEST', 'REVIEW', 'SIGNED', 'MANDATE'] as const;

/** The formats of the mandates that payers sign: AP2 v0.2 and Verifiable Intent v0.1. */
export const MANDATE_FORMATS = ['AP2', 'VI'] as const;

/** The most allowances from one to the uppermost above it, both counted. */
export const MAX_ALLOWANCE_DEPTH = 4;
/** The most open allowances below one that agents made. */
export const MAX_OPEN_CHILDREN = 1_000;
export const MAX_ALLOWANCE_COUNT = 1_000_000;
/** How many days ahead an allowance may expire. */
export const MAX_ALLOWANCE_DAYS = 366;
export const MAX_ALLOWANCES_AT_ONCE = 100;
export const MAX_ALLOWANCE_LABELS = 10;

/** The reasons of a REVIEW that an allowance can answer ahead. */
export const ANSWERABLE = [
  'PURPOSE_UNCLEAR',
  'REVIEW_THRESHOLD_EXCEEDED',
  'NEW_MERCHANT',
  'MERCHANT_NOT_ALLOWED',
  'ACTION_TYPE_NEEDS_REVIEW',
  'OUTSIDE_ACTIVE_HOURS',
] as const satisfies readonly ReasonCode[];
/** The most requested allowances of an agent that wait for a decision. */
export const MAX_REQUESTED = 10;
/** The most open standing approvals of an agent. */
export const MAX_STANDING = 100;
/** How many days ahead a requested allowance expires by default. */
export const REQUESTED_DAYS = 7;

/** The percentages of its amount at which an allowance alerts, each once a period. */
export const ALLOWANCE_ALERT_PERCENTS: readonly number[] = [80, 100];
