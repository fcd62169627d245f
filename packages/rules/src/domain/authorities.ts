import { createHash } from 'node:crypto';
import { CALENDAR_WINDOWS, type Weekday } from '../values/calendar.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** Who may judge the purpose of spends. */
export const JUDGES = ['rules', 'model'] as const;

/** What an agent is for, as its operator wrote it. Trusted text. */
export interface Purpose {
  objective: string;
  success_criteria?: string[];
  constraints?: string[];
  context?: string;
  /**
   * Who judges the spends under it. `rules`: no model is asked. `model`: without a model's opinion nothing is aligned but what
   * somebody vouches for. When left out, a model is asked where one is configured, as the installation's settings say.
   */
  judge?: (typeof JUDGES)[number];
}

/** What to do with a spend that is assessed as `PURPOSE_UNCLEAR`. */
export const ON_PURPOSE_UNCLEAR = ['REVIEW', 'ALLOW'] as const;

/** Hours of some days of the week. Where `from` is after `to`, they run into the day after. */
export interface ActivePeriod {
  days: Weekday[];
  /** `HH:MM`. */
  from: string;
  /** `HH:MM` or `24:00`; exclusive. */
  to: string;
}

/** What becomes of a spend outside the active hours. */
export const ON_OUTSIDE_HOURS = ['DENY', 'REVIEW'] as const;

/** What becomes of a spend with a merchant that the agent is not known to have paid. */
export const ON_NEW_MERCHANT = ['ALLOW', 'REVIEW', 'DENY'] as const;
/** A payee that may be paid: whoever is paid there, or the one merchant that is then paid nowhere else. */
export interface AllowedPayee {
  payee_id: string;
  merchant?: string;
}

/** What becomes of a spend at a merchant that is not on a list. */
export const ON_OTHER_MERCHANTS = ['ALLOW', 'REVIEW', 'DENY'] as const;

export const VELOCITY_WINDOWS = [...CALENDAR_WINDOWS, 'ROLLING'] as const;
export const VELOCITY_SCOPES = ['AGENT', 'MERCHANT', 'PAYEE'] as const;
/** What a spend becomes that is over a limit. */
export const ON_LIMIT_EXCEEDED = ['DENY', 'REVIEW'] as const;

/** A limit over time. It has an amount, a count, or both. */
export interface VelocityLimit {
  /** A slug of its own among the authority's limits. */
  name: string;
  window: (typeof VELOCITY_WINDOWS)[number];
  /** Only, and always, of `ROLLING`. */
  window_seconds?: number;
  /** What is counted by itself; `AGENT` when left out: all spends together. */
  per?: (typeof VELOCITY_SCOPES)[number];
  limit_amount_minor?: number;
  limit_count?: number;
  /** Only spends at these count; they are matched as `blocked_merchants` are. */
  merchants?: string[];
  /** Only spends of these types count. */
  action_types?: string[];
  /** `DENY` when left out. */
  on_exceeded?: (typeof ON_LIMIT_EXCEEDED)[number];
}

/** The full authority object of `POST /v1/agents/:id/authority`. A limit that is left out does not limit. */
export interface Authority {
  purpose: Purpose;
  /** ISO 4217 code of every `_minor` amount below. */
  currency: string;
  per_transaction_limit_minor?: number;
  review_threshold_minor?: number;
  monthly_budget_minor?: number;
  blocked_merchants?: string[];
  /**
   * Paying one of these is evidence for the purpose. It outweighs no limit, no constraint and no conflict. What becomes of
   * other merchants `on_other_merchants` says.
   */
  allowed_merchants?: string[];
  /** What may be spent, and how often, over time. All of them hold. */
  velocity_limits?: VelocityLimit[];
  /** Shared budgets, by slug: a spend counts in each of them and in all above. */
  budgets?: string[];
  /** For how long the same amount to the same merchant is taken for a duplicate. */
  duplicate_window_seconds?: number;
  /** `REVIEW` when left out. */
  on_duplicate?: (typeof ON_LIMIT_EXCEEDED)[number];
  /** `REVIEW` when left out. */
  on_purpose_unclear?: (typeof ON_PURPOSE_UNCLEAR)[number];
  /** Whether reviewers too may list merchants for the agent; `false` when left out. */
  reviewer_may_list?: boolean;
  /** From then on it is valid; `2026-11-21T08:30:00.000Z`. */
  valid_from?: string;
  /** Before then it is valid. */
  valid_until?: string;
  /** Of all days and hours below: a name of the IANA database; `UTC` when left out. */
  time_zone?: string;
  active_hours?: ActivePeriod[];
  /** `DENY` when left out. */
  on_outside_hours?: (typeof ON_OUTSIDE_HOURS)[number];
  /** What becomes of a spend with a merchant or payee that the agent is not known to have paid; `ALLOW` when left out. */
  on_new_merchant?: (typeof ON_NEW_MERCHANT)[number];
  /** Amounts up to it pass at a new merchant. */
  new_merchant_threshold_minor?: number;
  /** Any other is denied, but for those that go to a person. */
  allowed_action_types?: string[];
  /** These go to a person. */
  review_action_types?: string[];
  allowed_payees?: AllowedPayee[];
  /** `ALLOW` when left out. */
  on_other_merchants?: (typeof ON_OTHER_MERCHANTS)[number];
}

/** One version of an agent's authority, as it was posted. */
export interface AuthorityRow {
  agent_id: string;
  version: number;
  hash: string;
  /** RFC 8785 text. */
  authority: string;
  created_at: string;
  key_id: string | null;
  principal_id: string | null;
  /** Why it was made, in the words of whoever made it. */
  note: string | null;
  /** The limits over time that joined with it, as the JSON of `JoinedLimits`; null where none counts earlier decisions. */
  joined: string | null;
}

/**
 * Limits over time that joined with a version of an authority. The agent's decisions under earlier versions count in them from
 * then on, as if they had counted there from their making.
 */
export interface JoinedLimits {
  counter_ids: string[];
  /** Decisions with smaller ids are not counted. */
  from: string;
  /** An id of the moment, without its prefix: records of decisions with greater ones came after. */
  place: string;
}

/** A version of an authority with which limits joined. */
export interface JoiningAuthority {
  version: number;
  /** Shared; it must not be changed. */
  authority: Authority;
  joined: JoinedLimits;
}

/** What is said of an authority of which the validity is over. */
export const endedAt = (valid_until: string): string => `The authority ended at ${valid_until}.`;

/** `sha256:` + hex SHA-256 of the RFC 8785 form of the authority. */
export function authorityHash(authority: Authority): string {
  return `sha256:${createHash('sha256').update(canonicalJson(authority)).digest('hex')}`;
}

/**
 * Everything in an authority that an assessment depends on, as RFC 8785 text: authorities with the same text are
 * assessed alike. Limits are left out by name, so that a field which is added later counts until someone excludes it.
 */
export function assessmentInputs(authority: Authority): string {
  const {
    currency,
    per_transaction_limit_minor,
    review_threshold_minor,
    monthly_budget_minor,
    blocked_merchants,
    velocity_limits,
    budgets,
    duplicate_window_seconds,
    on_duplicate,
    on_purpose_unclear,
    reviewer_may_list,
    valid_from,
    valid_until,
    time_zone,
    active_hours,
    on_outside_hours,
    on_new_merchant,
    new_merchant_threshold_minor,
    allowed_action_types,
    review_action_types,
    allowed_payees,
    on_other_merchants,
    ...inputs
  } = authority;
  return canonicalJson(inputs);
}
