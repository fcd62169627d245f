import { NOTHING_SPENT, periodOf } from '../domain/budget.ts';
import type { DecideFacts } from './stage.ts';

/*
 * The facts of the same spend if one thing were different. Remedies are what `decide` says of these, so whatever a stage
 * learns to look at has to be here as it would then be.
 */

/** At a later moment, if nobody spends meanwhile and nothing that is held is let go. */
export function factsAt(facts: DecideFacts, now_ms: number): DecideFacts {
  const same_month = periodOf(now_ms) === periodOf(facts.now_ms);
  return { ...facts, now_ms, budget: same_month ? facts.budget : NOTHING_SPENT };
}

/** With another amount; null where it is not known whether that would repeat an earlier spend. */
export function factsWithAmount(facts: DecideFacts, amount_minor: number): DecideFacts | null {
  const changed = withAction(facts, { amount_minor });
  if (facts.authority?.duplicate_window_seconds === undefined) return changed;
  const duplicates = facts.duplicates_of?.get(amount_minor);
  if (duplicates === undefined) return null;
  return { ...changed, counters: new Map([...(facts.counters ?? []), ...duplicates]) };
}

/** In another currency, the number of its minor units being the same. */
export function factsInCurrency(facts: DecideFacts, currency: string): DecideFacts {
  return withAction(facts, { currency });
}

/** Beside this very spend, which holds `held_minor`. */
export function factsBesideHold(facts: DecideFacts, held_minor: number): DecideFacts {
  const { budget } = facts;
  return { ...facts, budget: { ...budget, held_minor: budget.held_minor + held_minor } };
}

/** Under another allowance, open for just this spend. */
export function factsUnderAnother(facts: DecideFacts): DecideFacts {
  return { ...facts, allowances: [] };
}

function withAction(facts: DecideFacts, change: Partial<DecideFacts['request']['action']>): DecideFacts {
  const { request } = facts;
  return { ...facts, request: { ...request, action: { ...request.action, ...change } } };
}
