/** States of a line: asked for or not. */
export const LINE_STATES = [
  'ASKED',
  'LATE',
  'REFUSED',
  'NEVER_ASKED',
  'WAITING',
  'EXCLUDED',
  'UNASSIGNED',
  'HISTORY',
] as const;
export type LineState = (typeof LINE_STATES)[number];

/** Common points of a line and its decision, the most reliable first. */
export const COVERAGE_RULES = ['RAIL', 'PAYEE', 'MERCHANT'] as const;
export type CoverageRule = (typeof COVERAGE_RULES)[number];

/** Statements of people about a line. The newest holds. */
export const RESOLUTION_ACTIONS = ['MATCH', 'UNMATCH', 'EXCLUDE', 'INCLUDE'] as const;
export type ResolutionAction = (typeof RESOLUTION_ACTIONS)[number];

/** The states that a report sums up; the shares are of the first four. */
export const COUNTED_STATES = ['ASKED', 'LATE', 'REFUSED', 'NEVER_ASKED', 'WAITING', 'EXCLUDED'] as const;

/** The states that `spend.unmatched` is sent for. */
export const UNMATCHED_STATES = ['NEVER_ASKED', 'REFUSED'] as const;

/** The largest lines that a report names, and the nearest decisions that an event names. */
export const MAX_NEVER_ASKED = 50;
export const MAX_NEAREST = 3;
