import type { Authority } from '@purser/contract/authority';
import type { Action, Decision, Reservation } from '@purser/contract/decisions';
import type { Capability } from '@purser/contract/records';
import type { Agent } from '@purser/rules/domain/agents';
import type { BudgetCounter } from '@purser/rules/domain/budget';
import type { DecisionEvent } from '@purser/rules/domain/decision-history';
import type { DecisionState } from '@purser/rules/domain/decision-states';
import type { CountersOf, LoadedCounter, SpendCounter } from '@purser/rules/policy/counters';
import type { DecideFacts } from '@purser/rules/policy/stage';
import {
  budgetImpact,
  budgetStatus,
  Counters,
  countedByNew,
  countedLimits,
  counterChanges,
  knownMerchantKey,
  makesMerchantKnown,
  NOTHING_SPENT,
  newHoldExpiresAt,
  noReservation,
  periodOf,
  reservationIdOf,
  withSlots,
} from './rules.ts';
import type { Judged } from './verdicts.ts';

/** A spend that was judged and not recorded yet. */
export interface JudgedSpend {
  decision_id: string;
  agent: Agent;
  facts: DecideFacts & { authority: Authority };
  judged: Judged;
}

type BudgetKey = Pick<DecisionState, 'agent_id' | 'period' | 'currency'>;

/** The service's default. */
const REVIEW_TTL_SECONDS = 86_400;

const nameOf = ({ agent_id, period, currency }: BudgetKey) => `${agent_id} ${period} ${currency}`;
const knownMerchant = (agent_id: string, action: Action) => `${agent_id} ${knownMerchantKey(action)}`;

/** The sums of all decisions: the budgets of months, counters over time, and the merchants that were paid. */
export class Totals {
  readonly #budgets = new Map<string, BudgetCounter>();
  readonly #counters = new Counters([]);
  readonly #known_merchants = new Set<string>();

  /** An agent's counter of a month and currency. */
  budget(key: BudgetKey): BudgetCounter {
    return this.#budgets.get(nameOf(key)) ?? NOTHING_SPENT;
  }

  /** Counters with what is in them. */
  load(counters: CountersOf<SpendCounter>): CountersOf<LoadedCounter> {
    return withSlots(counters, (counter) => this.#counters.slots(counter));
  }

  /** True if the agent is known to have paid the payee of an action, or else its merchant. */
  isKnown(agent_id: string, action: Action): boolean {
    return this.#known_merchants.has(knownMerchant(agent_id, action));
  }

  /** Counts a new decision in its limits over time. */
  count(decision: Decision): void {
    for (const row of countedByNew(decision, decision.created_at)) this.#counters.add(row);
  }

  /** Holds the money of a decision against its month. */
  hold({ decision_id, agent, facts, judged }: JudgedSpend, capability: Capability | null): Reservation {
    const { authority, request, now_ms } = facts;
    const { currency } = request.action;
    const { decision, held_amount_minor: amount_minor } = judged.verdict;
    const period = periodOf(now_ms);
    const key = { agent_id: agent.agent_id, period, currency };
    const in_its_currency = authority.currency === currency;
    const limit_minor = in_its_currency ? (authority.monthly_budget_minor ?? null) : null;
    const own = { count: decision === 'DENY' ? 0 : 1, amount_minor };
    const counted = in_its_currency ? countedLimits(facts, own) : [];
    const limits = counted.length === 0 ? {} : { limits: counted };
    const before = this.budget(key);
    if (decision === 'DENY') return { ...noReservation(currency, period, before, limit_minor), ...limits };
    const held = { ...before, held_minor: before.held_minor + amount_minor };
    this.#budgets.set(nameOf(key), held);
    return {
      reservation_id: reservationIdOf(decision_id),
      status: 'HELD',
      amount_minor,
      currency,
      period,
      expires_at: newHoldExpiresAt(
        agent.mode,
        decision,
        capability,
        now_ms,
        facts.authority?.review_ttl_seconds ?? REVIEW_TTL_SECONDS,
      ),
      budget: budgetStatus(held, limit_minor),
      ...limits,
    };
  }

  /** Brings the totals up to date after a later record of a decision. */
  change(decision: Decision, before: DecisionState, state: DecisionState, event: DecisionEvent): void {
    const [was, is, budget] = [budgetImpact(before), budgetImpact(state), this.budget(state)];
    this.#budgets.set(nameOf(state), {
      held_minor: budget.held_minor - was.held_minor + is.held_minor,
      committed_minor: budget.committed_minor - was.committed_minor + is.committed_minor,
    });
    for (const row of counterChanges(before, state, event.at)) this.#counters.add(row);
    if (makesMerchantKnown(decision, before, event))
      this.#known_merchants.add(knownMerchant(state.agent_id, decision.action));
  }
}
