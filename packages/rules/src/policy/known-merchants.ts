import type { Action } from '@purser/contract/decisions';
import { completesReview, type DecisionEvent } from '../domain/decision-history.ts';
import type { DecisionState } from '../domain/decision-states.ts';
import { type DecisionCore, effectiveDecision, type ReviewState } from '../domain/decisions.ts';
import { sha256 } from '../domain/ledger.ts';
import { trustOfReport } from '../domain/trust.ts';
import { allowlistKey } from '../merchants/allowlist.ts';

/** A merchant, or a payee, that an agent is known to have paid. */
export interface KnownMerchantRow {
  agent_id: string;
  /** See `knownMerchantKey`. */
  key: string;
  /** When it was first known. ISO UTC. */
  since: string;
  /** The decision that made it known; of several at one moment the one with the lowest id. */
  decision_id: string;
}

/**
 * The key of a known merchant: the payee, otherwise the merchant's name, compared as in an allow list. A known name
 * with a new payee is therefore new, and omitting the payee makes nobody known. A hash, because names have no bound
 * as keys.
 */
export function knownMerchantKey({ merchant, payee_id }: Pick<Action, 'merchant' | 'payee_id'>): string {
  const name = payee_id === undefined ? `merchant ${allowlistKey(merchant)}` : `payee ${payee_id}`;
  return sha256(name).toString('base64url');
}

/**
 * Returns true if an event makes known whom its decision pays: people allow the spend, as many as its tier needs, or the payment rail reports
 * it as executed while the decision, or a person's review of it, was ALLOW. A client's report makes nobody known,
 * since it is the agent's word. In SHADOW, where nothing stops a spend, that it went through is no one's approval
 * either. A lease makes nobody known: the authority vouched for it, and no one looked at it. The state is that before the event.
 */
export function makesMerchantKnown(
  decision: Pick<DecisionCore, 'decision' | 'review_tier' | 'lease'>,
  state: Pick<DecisionState, 'review_state' | 'approvals'>,
  event: DecisionEvent,
): boolean {
  if (decision.lease === true) return false;
  if (event.type === 'decision.review.recorded')
    return event.review.action === 'ALLOW' && completesReview(decision, state, 'ALLOW');
  return (
    event.type === 'decision.outcome.recorded' &&
    event.report.type === 'SPEND_EXECUTED' &&
    trustOfReport(event.report) === 'RAIL' &&
    effectiveDecision('ENFORCE', decision.decision, state.review_state) === 'ALLOW'
  );
}

/** When the events of a decision, in the order of the ledger, made known whom it pays; null: they did not. */
function knownSince(
  decision: Pick<DecisionCore, 'decision' | 'review_tier' | 'lease'>,
  events: readonly DecisionEvent[],
): string | null {
  let review_state: ReviewState | null = null;
  let approvals = 0;
  for (const event of events) {
    if (makesMerchantKnown(decision, { review_state, approvals }, event)) return event.at;
    if (event.type !== 'decision.review.recorded') continue;
    if (event.review.action === 'DENY') review_state = 'DENIED';
    else approvals += 1;
  }
  return null;
}

/** The merchant that the events of a decision, in ledger order, made known; null if none. */
export function knownMerchantAfter(
  decision: Pick<DecisionCore, 'decision_id' | 'agent' | 'action' | 'decision' | 'review_tier' | 'lease'>,
  events: readonly DecisionEvent[],
): KnownMerchantRow | null {
  const since = knownSince(decision, events);
  if (since === null) return null;
  const { decision_id, agent, action } = decision;
  return { agent_id: agent.id, key: knownMerchantKey(action), since, decision_id };
}

/** Returns true if one row says that it was known no later than the other does. */
export function isKnownBySameTime(
  one: Pick<KnownMerchantRow, 'since' | 'decision_id'>,
  other: Pick<KnownMerchantRow, 'since' | 'decision_id'>,
): boolean {
  return one.since < other.since || (one.since === other.since && one.decision_id <= other.decision_id);
}
