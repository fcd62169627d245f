export const DECISIONS = ['ALLOW', 'REVIEW', 'DENY'] as const;
export const STAGE_OUTCOMES = ['PASS', 'LIMIT', 'REVIEW', 'DENY', 'SKIPPED'] as const;
export const REVIEW_STATES = ['PENDING', 'ALLOWED', 'DENIED', 'EXPIRED'] as const;
export const OUTCOME_STATES = [
  'NONE',
  'EXECUTED',
  'FAILED',
  'CANCELLED',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
] as const;

export const PURPOSE_ASSESSMENTS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;
export const EVIDENCE_EFFECTS = ['supports', 'conflicts', 'suspicious'] as const;

export const CAPABILITY_STATUSES = ['ISSUED', 'CONSUMED', 'EXPIRED', 'REVOKED'] as const;

export const LABELS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;

export const OUTCOME_TYPES = [
  'SPEND_EXECUTED',
  'SPEND_FAILED',
  'SPEND_CANCELLED',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
] as const;
export const OUTCOME_SOURCES = ['CLIENT_REPORTED', 'PAYMENT_RAIL'] as const;
export const OUTCOME_FLAGS = [
  'OVER_AUTHORIZED',
  'UNAUTHORIZED_EXECUTION',
  'LATE',
  'CONTRADICTS_CLIENT',
  'ADJUSTED',
] as const;
/**
 * Reports of one source about one decision. They are bounded because each further one reads them all, and counted by
 * source so that no client can keep the rail from reporting.
 */
export const MAX_REPORTS = 1_000;

export const RESERVATION_STATUSES = ['HELD', 'COMMITTED', 'RELEASED', 'EXPIRED', 'NONE'] as const;

export const REVIEW_ACTIONS = ['ALLOW', 'DENY'] as const;
/** How a review may be recorded besides by a call of the API. */
export const REVIEW_WAYS = ['slack'] as const;

/**
 * The number of decisions that one page reads at most, including those that the filters exclude. So a filter that
 * matches hardly any of a million decisions still answers in time, and the next page continues there. Measured with a
 * million decisions on 2 cores at a load of ten: twice this number took up to 4.5 s, and a statement may take 5 s.
 */
export const MAX_LOOKED_AT = 10_000;

export const EXAMPLE_COUNT = 10;
