import type { Authority } from '@purser/contract/authority';
import type { Assessment, SpendRequest, StageFinding } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { Stage } from '@purser/contract/stages';
import type { LoadedAllowance } from '../counters/allowances.ts';
import type { LoadedBudget } from '../counters/shared-budgets.ts';
import type { BudgetCounter } from '../domain/budget.ts';
import type { Directory } from '../merchants/directory.ts';
import { POLICY } from '../sentences/policy.ts';
import type { CountersOf, LoadedCounter } from './counters.ts';

/** Everything that a decision depends on. */
export interface DecideFacts {
  authority: Authority | null;
  request: SpendRequest;
  /** The merchants listed for the agent, as they stand. */
  directory: Directory;
  /** The agent's counter of the current month, in the authority's currency. */
  budget: BudgetCounter;
  /** Contents of the spend's counters under `authority`: see `countersOf`. Omitted without limits over time. */
  counters?: CountersOf<LoadedCounter>;
  /** Counters of duplicates for other amounts of the spend, as far as loaded. */
  duplicates_of?: ReadonlyMap<number, CountersOf<LoadedCounter>>;
  /** Shared budgets of the spend under `authority`. Omitted if it names none. */
  shared_budgets?: readonly LoadedBudget[];
  /**
   * The allowance that the spend is made under and all above it, the nearest first. Omitted without one; empty where one is
   * named and nothing is known of it yet.
   */
  allowances?: readonly LoadedAllowance[];
  /** The findings of an earlier answer about its allowances, in place of `allowances`. */
  replayed_allowances?: readonly Found[];
  /**
   * The agent's standing approvals, the one that expires first in front, and whether the review policy lets a review of an
   * amount be answered ahead. Omitted: nothing is.
   */
  answers_ahead?: { standing: readonly LoadedAllowance[]; mayAnswer: (amount_minor: number) => boolean };
  /** The sentences of what an earlier answer says was answered ahead, by their place, in place of `answers_ahead`. */
  replayed_answers?: ReadonlyMap<string, string>;
  /** Made for the purpose of `authority`; null exactly where there is no authority. */
  assessment: Assessment | null;
  /** True if the agent is known to have paid the payee that the request names, or else its merchant. */
  is_known_merchant: boolean;
  /** When it is decided; milliseconds since 1970 UTC. */
  now_ms: number;
}

/** The result of one judge of a stage. */
export interface JudgedBy {
  stage: Stage;
  found: Found;
}

/** The result of a stage. Omitted fields are null in the trace, except `name`, which is omitted there too. */
export type Found = {
  /** Which of the authority's limits it is about, where the stage judges by several. */
  name?: string;
  observed?: StageFinding['observed'];
  limit?: StageFinding['limit'];
  detail: string;
} & (
  | { outcome: 'PASS' | 'SKIPPED' }
  | ({ outcome: 'REVIEW' | 'DENY'; reason_code: ReasonCode } & Ends)
  /** Later stages judge `capped_minor` instead of the requested amount. */
  | ({ outcome: 'LIMIT'; reason_code: ReasonCode; capped_minor: number } & Ends)
);

/** Hints for finding `remedies`; not part of the trace. */
interface Ends {
  /**
   * The first moment at which the same would not be found, if nobody spends meanwhile; left out where time does not help.
   * Milliseconds since 1970 UTC. Of a LIMIT: the first moment at which it leaves at least what the request accepts.
   */
  ends_ms?: number;
  /** The largest amount at which the same would not be found; left out where no amount is too small for it. */
  room_minor?: number;
}

/** `amount_minor`: the amount after capping by what was judged before, in minor units of the request's currency. */
export type Judge = (authority: Authority, facts: DecideFacts, amount_minor: number) => Found;

/**
 * The judges of a stage under an authority, in order. A stage of the contract always has one judge; any other has one
 * for each thing that the authority says of it, and none where it says nothing.
 */
export type JudgesOf = (authority: Authority, facts: DecideFacts) => readonly Judge[];

/** Judges for an authority that says nothing of a stage. */
export const NO_JUDGES: readonly Judge[] = [];

/** Found where there is nothing to judge. */
export const skipped = (detail: string): Found => ({ outcome: 'SKIPPED', detail });

/** The least that a request accepts: what it asks for where that may not be capped. Minor units. */
export function leastAccepted({ action, limitable, min_amount_minor = 1 }: SpendRequest): number {
  return limitable === true ? Math.min(min_amount_minor, action.amount_minor) : action.amount_minor;
}

/** A judge by one of several limits of its stage. */
export const named =
  (name: string, judge: Judge): Judge =>
  (authority, facts, amount_minor) => ({ ...judge(authority, facts, amount_minor), name });

/** A judge that compares amounts: skipped where the request is in another currency than the authority. */
export const sameCurrencyOnly =
  (judge: Judge): Judge =>
  (authority, facts, amount_minor) => {
    const { currency } = facts.request.action;
    return authority.currency === currency
      ? judge(authority, facts, amount_minor)
      : skipped(POLICY.other_currency(currency, authority.currency));
  };
