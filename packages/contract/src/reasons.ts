import type { Stage } from './stages.ts';

/** The effect of a reason on a request: caps its amount, sends it to a reviewer, or denies it. */
export type Severity = 'LIMIT' | 'REVIEW' | 'DENY';

/** A reason of a decision. */
interface ReasonRow {
  /** The stages that give it. */
  stages: readonly Stage[];
  /** How severe it can be; the authority chooses where there are several. */
  severities: readonly Severity[];
  /** Meaning, for the reference. */
  meaning: string;
  /** Meaning, for the agent. */
  told: string;
  /** Its name in the console. */
  label: string;
  /** Hides the explanation from the agent, which could use it to evade the rule. The agent reads the text for agents instead. */
  is_secret?: true;
}

/** Every reason code, in the order of the reference. */
export const REASONS = {
  WITHIN_AUTHORITY: {
    stages: [],
    severities: [],
    meaning: 'The spend is within the authority.',
    told: 'It is within the policy.',
    label: 'Within policy',
  },
  NO_AUTHORITY: {
    stages: ['authority'],
    severities: ['DENY'],
    meaning: 'The agent has no authority.',
    told: 'This agent has no policy.',
    label: 'No policy',
  },
  CURRENCY_NOT_AUTHORIZED: {
    stages: ['currency'],
    severities: ['DENY'],
    meaning: "The currency differs from the authority's.",
    told: 'The policy allows only another currency.',
    label: 'Currency not allowed',
  },
  MERCHANT_BLOCKED: {
    stages: ['merchant'],
    severities: ['DENY'],
    meaning: 'The merchant is on the blocklist.',
    told: 'The policy blocks this merchant.',
    label: 'Merchant blocked',
    is_secret: true,
  },
  PER_TRANSACTION_LIMIT_EXCEEDED: {
    stages: ['per_transaction_limit'],
    severities: ['DENY'],
    meaning: 'The amount is over the per-transaction limit and may not be capped.',
    told: 'The amount is over the limit for a single purchase.',
    label: 'Over the per-transaction limit',
  },
  MONTHLY_BUDGET_EXCEEDED: {
    stages: ['monthly_budget'],
    severities: ['DENY'],
    meaning: 'The amount is over the rest of the monthly budget.',
    told: "The amount is over the rest of this month's budget.",
    label: 'Over the monthly budget',
  },
  AMOUNT_LIMITED: {
    stages: ['per_transaction_limit', 'velocity', 'monthly_budget', 'shared_budget', 'allowance'],
    severities: ['LIMIT'],
    meaning: 'The amount was capped to what the authority allows.',
    told: 'The amount was reduced to what is authorized.',
    label: 'Amount capped',
  },
  MIN_AMOUNT_UNREACHABLE: {
    stages: ['min_amount'],
    severities: ['DENY'],
    meaning: 'The capped amount is below the lowest acceptable amount.',
    told: 'The amount that is authorized is below the smallest acceptable amount.',
    label: 'Cap below the minimum amount',
  },
  PURPOSE_MISALIGNED: {
    stages: ['purpose'],
    severities: ['REVIEW'],
    meaning: 'The spend does not serve the purpose.',
    told: 'It does not serve the purpose.',
    label: 'Against the purpose',
  },
  PURPOSE_UNCLEAR: {
    stages: ['purpose'],
    severities: ['REVIEW'],
    meaning: 'It is unclear if the spend serves the purpose.',
    told: 'It is unclear if it serves the purpose.',
    label: 'Purpose unclear',
  },
  REVIEW_THRESHOLD_EXCEEDED: {
    stages: ['review_threshold'],
    severities: ['REVIEW'],
    meaning: 'The amount is over the review threshold.',
    told: 'A purchase of this size needs a review first.',
    label: 'Over the review threshold',
    is_secret: true,
  },
  AUTHORITY_NOT_YET_VALID: {
    stages: ['validity'],
    severities: ['DENY'],
    meaning: 'The authority is not valid yet.',
    told: 'The policy of this agent has not started yet.',
    label: 'Policy not yet valid',
  },
  AUTHORITY_EXPIRED: {
    stages: ['validity'],
    severities: ['DENY'],
    meaning: 'The authority is no longer valid.',
    told: 'The policy of this agent has expired.',
    label: 'Policy expired',
  },
  ACTION_TYPE_NOT_ALLOWED: {
    stages: ['action_type'],
    severities: ['DENY'],
    meaning: 'The action type is not allowed.',
    told: 'The policy does not allow purchases of this type.',
    label: 'Action type not allowed',
  },
  ACTION_TYPE_NEEDS_REVIEW: {
    stages: ['action_type'],
    severities: ['REVIEW'],
    meaning: 'Spends of this action type need a review.',
    told: 'Purchases of this type need a review first.',
    label: 'Action type needs review',
  },
  MERCHANT_NOT_ALLOWED: {
    stages: ['merchant_allowlist'],
    severities: ['REVIEW', 'DENY'],
    meaning: 'The merchant is not an allowed one.',
    told: 'The policy allows only certain merchants, and this is not one of them.',
    label: 'Merchant not allowed',
  },
  PAYEE_NOT_ALLOWED: {
    stages: ['merchant_allowlist'],
    severities: ['REVIEW', 'DENY'],
    meaning: 'The payee is not a known account of the merchant.',
    told: 'The policy allows only known accounts of this merchant.',
    label: 'Payee not allowed',
  },
  OUTSIDE_ACTIVE_HOURS: {
    stages: ['active_hours'],
    severities: ['REVIEW', 'DENY'],
    meaning: "The spend is outside the agent's active hours.",
    told: 'The policy allows no purchases at this time.',
    label: 'Outside active hours',
  },
  DUPLICATE_SPEND: {
    stages: ['duplicate'],
    severities: ['REVIEW', 'DENY'],
    meaning: 'A spend of the same amount at the same merchant was decided shortly before.',
    told: 'The agent requested the same purchase shortly before.',
    label: 'Duplicate request',
  },
  VELOCITY_LIMIT_EXCEEDED: {
    stages: ['velocity'],
    severities: ['REVIEW', 'DENY'],
    meaning: 'The spend exceeds a limit on amounts or counts over time.',
    told: 'It exceeds the amount or number of purchases authorized within that time.',
    label: 'Over a velocity limit',
  },
  BUDGET_EXCEEDED: {
    stages: ['shared_budget'],
    severities: ['DENY'],
    meaning: 'The amount is over the rest of a shared budget.',
    told: 'The amount is over the rest of a shared budget.',
    label: 'Over a shared budget',
  },
  BUDGET_FROZEN: {
    stages: ['shared_budget'],
    severities: ['DENY'],
    meaning: 'A shared budget is frozen.',
    told: 'A shared budget is frozen.',
    label: 'Shared budget frozen',
  },
  ALLOWANCE_REQUIRED: {
    stages: ['allowance'],
    severities: ['DENY'],
    meaning: 'The authority requires an allowance, and the request names none.',
    told: 'The policy requires an allowance, and the request names none.',
    label: 'No allowance named',
  },
  ALLOWANCE_NOT_OPEN: {
    stages: ['allowance'],
    severities: ['DENY'],
    meaning: 'The allowance, or one above it, is not decided yet, denied, expired or revoked.',
    told: 'The allowance cannot be used now.',
    label: 'Allowance not open',
  },
  OUTSIDE_ALLOWANCE: {
    stages: ['allowance'],
    severities: ['DENY'],
    meaning: 'The allowance is for another currency, merchant, payee or action type.',
    told: 'The allowance is for something else.',
    label: 'Outside the allowance',
  },
  ALLOWANCE_EXCEEDED: {
    stages: ['allowance'],
    severities: ['DENY'],
    meaning: 'The amount or the count is over what is left of the allowance.',
    told: 'The amount or the count is over what is left of the allowance.',
    label: 'Over the allowance',
  },
  NEW_MERCHANT: {
    stages: ['new_merchant'],
    severities: ['REVIEW', 'DENY'],
    meaning: 'The agent has not paid this merchant, or this payee, before.',
    told: 'The agent never paid this merchant or account before.',
    label: 'New merchant',
  },
} as const satisfies Record<string, ReasonRow>;
export type ReasonCode = keyof typeof REASONS;
export const REASON_CODES = Object.keys(REASONS) as ReasonCode[];
/** The table by code, for codes that may be newer than it. */
export const REASON_ROWS: Readonly<Record<string, ReasonRow | undefined>> = REASONS;
