/** The most unlisted merchants of an agent in the report of spared reviews. */
export const MAX_SPARED_MERCHANTS = 20;

/** Examples of a reason in a report, and so the ids that a counter stores. */
export const MAX_EXAMPLES = 5;

/** Questions in a report, to be answered first. */
export const MAX_QUESTIONS = 12;

/** The parts of a spending report: by what it is divided. */
export const SPENDING_BY = ['agent', 'merchant', 'budget'] as const;

/** Parts of each currency in a spending report, the largest ones. */
export const MAX_PARTS = 12;

/** Agents whose requests are divided by shared budgets, the newest. */
export const MAX_SHARING_AGENTS = 200;

/** Standing approvals in a report. */
export const MAX_STANDING_APPROVALS = 100;

/** Merchants in a report. */
export const MAX_MERCHANTS = 20;

/** Every reason against switching to ENFORCE, with what to do about it. */
export const BLOCKERS = {
  PLAN_CANNOT_ENFORCE: 'Enforce needs a paid plan; a trial is not one.',
  NO_DECISIONS: 'No decisions were made in Shadow in this period.',
  TOO_FEW_DAYS: 'Collect decisions over more days, to cover a typical week.',
  TOO_FEW_DECISIONS: 'Collect more decisions, to predict what Enforce would stop.',
  AGENT_WITHOUT_AUTHORITY: 'Agents without a policy would have every spend denied: set one.',
  TOO_MANY_UNCLEAR:
    'Too many spends have an unclear purpose and would need a review: make the purpose more specific, or have the agents send descriptions.',
  PENDING_REVIEWS:
    'Too many reviews are pending: in Enforce a spend waits for its review, and the review expires.',
  TOO_FEW_LABELS: 'Add more labels, to measure how often the assessment of purpose is right.',
  LOW_PRECISION: 'Too many spends labelled aligned were assessed as misaligned.',
  LOW_RECALL: 'Too many spends labelled misaligned would have been allowed.',
  EXECUTED_ALTHOUGH_DENIED:
    'Agents made spends that Enforce would have denied: widen the policy if they were right, or accept that they stop.',
} as const;
export type BlockerCode = keyof typeof BLOCKERS;
export const BLOCKER_CODES = Object.keys(BLOCKERS) as BlockerCode[];
/** The reasons for a look before ENFORCE, which speak against nothing. */
export const WARNING_CODES = ['PURPOSE_NOT_UNDERSTOOD', 'REVIEWED_BY_KEY_MAKER'] as const;

export type Stop = 'DENY' | 'REVIEW_PENDING' | 'REVIEW_DENIED';
export const STOPS = ['DENY', 'REVIEW_PENDING', 'REVIEW_DENIED'] as const satisfies readonly Stop[];

/** The followers of each workspace's chain: `report` for the shadow report, `learning` for the feedback, `search` for what is found. */
export const FOLLOWERS = ['report', 'learning', 'search', 'coverage'] as const;
export type FollowerName = (typeof FOLLOWERS)[number];

/** Why a decision was left out of a replay. */
export const SKIP_REASONS = ['CURRENCY_DIFFERS'] as const;
