import type { Authority } from '@purser/contract/authority';
import { utcTime } from '@purser/contract/calendar';
import type { Decision } from '@purser/contract/decisions';
import type { ErrorCode } from '@purser/contract/errors';
import type { Capability } from '@purser/contract/records';
import type { Allowance } from '../counters/allowances.ts';
import type { SharedBudget } from '../counters/shared-budgets.ts';
import type { Agent } from '../domain/agents.ts';
import { capabilityStatusAt } from '../domain/capabilities.ts';
import type { DecisionState } from '../domain/decision-states.ts';
import { type WorkspaceStop, whyInactive } from '../domain/workspace.ts';
import { isDescriptorOf } from '../merchants/descriptors.ts';
import { POLICY } from '../sentences/policy.ts';
import { formatMoney } from '../values/money.ts';
import { whyNotOpen } from './allowances.ts';

/** The facts by which a hold may still pay, or not. */
interface Facts {
  decision: Pick<Decision, 'authority_hash' | 'reservation'>;
  state: Pick<DecisionState, 'reservation_status'>;
  /** As last recorded. */
  capability: Capability;
  agent: Pick<Agent, 'slug' | 'status' | 'authority_hash'>;
  stop: WorkspaceStop | null;
  /** The agent's authority as it is now. */
  authority: Pick<Authority, 'valid_until'> | null;
  /** All shared budgets of the workspace. */
  budgets: readonly Pick<SharedBudget, 'budget_id' | 'slug' | 'status'>[];
  /** The allowances that the spend counts in, with all above them. */
  allowances: readonly Allowance[];
  now_ms: number;
}

/** Why a hold may not pay, for the caller. */
export interface NotPaying {
  code: ErrorCode;
  message: string;
}

type Check<Of extends keyof Facts> = (facts: Pick<Facts, Of>) => NotPaying | null;

const agentIsActive: Check<'agent' | 'stop'> = ({ agent, stop }) => {
  const message = whyInactive(agent, stop);
  return message === null ? null : { code: 'agent_not_active', message };
};

const capabilityIsIssued: Check<'capability' | 'agent' | 'now_ms'> = ({ capability, agent, now_ms }) => {
  switch (capabilityStatusAt(capability, agent, now_ms)) {
    case 'ISSUED':
      return null;
    case 'CONSUMED':
      return {
        code: 'capability_used',
        message: `The capability was consumed at ${capability.consumed_at}.`,
      };
    case 'REVOKED': {
      const message = 'The capability was revoked: an outcome was reported for the spend.';
      return { code: 'capability_revoked', message };
    }
    case 'EXPIRED':
      return { code: 'capability_expired', message: `The capability expired at ${capability.expires_at}.` };
  }
};

const authorityIsTheSame: Check<'agent' | 'decision'> = ({ agent, decision }) => {
  if (agent.authority_hash === decision.authority_hash) return null;
  const message = "The agent's authority changed since the decision was made; request a new decision.";
  return { code: 'authority_changed', message };
};

const authorityIsValid: Check<'authority' | 'now_ms'> = ({ authority, now_ms }) => {
  const valid_until = authority?.valid_until;
  if (valid_until === undefined || Date.parse(valid_until) > now_ms) return null;
  return { code: 'authority_changed', message: POLICY.expired(utcTime(Date.parse(valid_until))) };
};

/** A hold that was settled meanwhile makes no capability, so its budgets do not matter. */
const noBudgetIsFrozen: Check<'decision' | 'state' | 'budgets'> = ({ decision, state, budgets }) => {
  if (state.reservation_status !== 'HELD') return null;
  const counted = new Set((decision.reservation.limits ?? []).map(({ counter_id }) => counter_id));
  const frozen = budgets.find(({ budget_id, status }) => status === 'frozen' && counted.has(budget_id));
  if (frozen === undefined) return null;
  const message = `The shared budget "${frozen.slug}" is frozen; unfreeze it first, or deny the spend.`;
  return { code: 'budget_frozen', message };
};

const allowancesAreOpen: Check<'allowances' | 'now_ms'> = ({ allowances, now_ms }) => {
  const [message] = allowances.flatMap((each) => whyNotOpen(each, now_ms) ?? []);
  return message === undefined ? null : { code: 'allowance_not_open', message };
};

/** An allowance that ended takes the capabilities with it that were issued under it. */
const allowancesLast: Check<'allowances' | 'now_ms'> = ({ allowances, now_ms }) => {
  const ended = allowances.find((each) => whyNotOpen(each, now_ms) !== null);
  if (ended === undefined) return null;
  const code = ended.status === 'REVOKED' ? 'capability_revoked' : 'capability_expired';
  return { code, message: whyNotOpen(ended, now_ms) as string };
};

/** The first reason of these checks, in their order. */
const firstOf =
  <Of extends keyof Facts>(...checks: Check<Of>[]): Check<Of> =>
  (facts) => {
    for (const check of checks) {
      const refused = check(facts);
      if (refused !== null) return refused;
    }
    return null;
  };

/**
 * Why a review in ENFORCE may not allow a spend now; null: it may. Such a review makes new permission to pay, so it asks
 * what a new decision would. It does not ask for the agent: the permission is good once a paused agent is active again,
 * and void for a revoked one.
 */
export const whyNotAllowed = firstOf<
  'decision' | 'state' | 'agent' | 'authority' | 'budgets' | 'allowances' | 'now_ms'
>(authorityIsTheSame, authorityIsValid, noBudgetIsFrozen, allowancesAreOpen);

/**
 * Returns why a capability may not be consumed now; null: it may. A capability is permission that was already given. Its
 * own time limit includes the authority's validity. Freezing a shared budget stops only new permission, so it is not
 * checked here. A stop, and a pause of the agent, also stop capabilities that were issued.
 */
export const whyNotConsumed = firstOf<'decision' | 'agent' | 'stop' | 'capability' | 'allowances' | 'now_ms'>(
  agentIsActive,
  capabilityIsIssued,
  allowancesLast,
  authorityIsTheSame,
);

/** A payment that a capability is consumed for. */
export interface Payment {
  amount_minor: number;
  currency: string;
  payee_id: string | null;
  /** As the payment names it; null: it does not. */
  merchant: string | null;
}

/** Returns why a capability does not cover a payment; null: it does. */
export function whyNotCovered(capability: Capability, payment: Payment): NotPaying | null {
  const { amount_minor, currency, payee_id, merchant } = payment;
  if (capability.payee_id !== null && payee_id !== capability.payee_id) {
    const found = payee_id === null ? 'payee_id is missing' : `the request names ${payee_id}`;
    return { code: 'payee_mismatch', message: `Only ${capability.payee_id} may be paid; ${found}.` };
  }
  if (merchant !== null && !isDescriptorOf(merchant, capability.merchant)) {
    return { code: 'merchant_mismatch', message: `The capability is for "${capability.merchant}".` };
  }
  if (currency !== capability.currency) {
    const message = `The capability is in ${capability.currency}, not ${currency}.`;
    return { code: 'currency_mismatch', message };
  }
  if (amount_minor > capability.max_amount_minor) {
    const most = formatMoney(capability.max_amount_minor, currency);
    return { code: 'amount_exceeds_authorized', message: `At most ${most} may be paid.` };
  }
  return null;
}
