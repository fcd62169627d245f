import type { ReasonCode } from '../reasons.ts';
import type { REVIEW_ACTIONS } from '../values/decisions.ts';

/** The reasons that a reviewer can choose from, in the order of the keys 1 to 9. A review may have any other code. */
export const REVIEW_REASONS = {
  ALLOW: {
    AMOUNT_OK: 'The amount is fine',
    TIME_OK: 'The time is fine',
    TYPE_OK: 'This type of purchase is fine',
    WITHIN_PURPOSE: 'Serves the purpose',
    CONFIRMED_WITH_OWNER: 'Confirmed with the requester',
    KNOWN_MERCHANT: 'We know this merchant',
    ONE_TIME_EXCEPTION: 'One-time exception',
    URGENT: 'Urgent and low risk',
  },
  DENY: {
    NOT_THE_PURPOSE: 'Does not serve the purpose',
    MERCHANT_NOT_TRUSTED: 'We do not trust this merchant',
    TOO_EXPENSIVE: 'Too expensive',
    DUPLICATE: 'Already bought',
    NOT_ENOUGH_TOLD: 'Not enough information',
    MANIPULATED: 'The agent seems to be manipulated',
    NOT_NOW: 'Not now',
  },
} as const satisfies Record<(typeof REVIEW_ACTIONS)[number], Record<string, string>>;

/** The ways to remember a review: the merchant is listed as allowed, or as blocked. */
export const REMEMBERED = ['ALWAYS', 'NEVER'] as const;

type ReasonTo<Action extends keyof typeof REVIEW_REASONS> = keyof (typeof REVIEW_REASONS)[Action];

/** Reviewing a spend that is pending for one reason. */
interface Cause {
  /** The reason to allow that fits the cause; null: the reviewer chooses. */
  default_allow: ReasonTo<'ALLOW'> | null;
  default_deny: ReasonTo<'DENY'>;
  /** It may be reviewed together with others, without a look at each. */
  bulk: boolean;
  /** The ways to remember the merchant that a review offers because of it. */
  remember: readonly (typeof REMEMBERED)[number][];
}

const OF_AMOUNT = {
  default_allow: 'AMOUNT_OK',
  default_deny: 'TOO_EXPENSIVE',
  bulk: true,
  remember: [],
} as const;

const OF_MERCHANT = {
  default_allow: null,
  default_deny: 'MERCHANT_NOT_TRUSTED',
  bulk: false,
  remember: REMEMBERED,
} as const;

/** Defaults of a review, by the reason that made it necessary. */
export const REVIEW_CAUSES: Readonly<Partial<Record<ReasonCode, Cause>>> = {
  REVIEW_THRESHOLD_EXCEEDED: OF_AMOUNT,
  VELOCITY_LIMIT_EXCEEDED: OF_AMOUNT,
  OUTSIDE_ACTIVE_HOURS: {
    default_allow: 'TIME_OK',
    default_deny: 'NOT_NOW',
    bulk: true,
    remember: [],
  },
  ACTION_TYPE_NEEDS_REVIEW: {
    default_allow: 'TYPE_OK',
    default_deny: 'NOT_NOW',
    bulk: true,
    remember: [],
  },
  DUPLICATE_SPEND: { default_allow: null, default_deny: 'DUPLICATE', bulk: false, remember: [] },
  PURPOSE_UNCLEAR: {
    default_allow: null,
    default_deny: 'NOT_ENOUGH_TOLD',
    bulk: true,
    remember: REMEMBERED,
  },
  PURPOSE_MISALIGNED: {
    default_allow: null,
    default_deny: 'NOT_THE_PURPOSE',
    bulk: false,
    remember: ['NEVER'],
  },
  NEW_MERCHANT: OF_MERCHANT,
  MERCHANT_NOT_ALLOWED: OF_MERCHANT,
  PAYEE_NOT_ALLOWED: OF_MERCHANT,
};
