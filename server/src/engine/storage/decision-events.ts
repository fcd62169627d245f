import { capabilityIdOf } from '@purser/rules/domain/capabilities';
import type { DecisionEvent, PlacedEvent } from '@purser/rules/domain/decision-history';
import { reservationIdOf } from '@purser/rules/domain/reservations';
import { loadConsumptions } from './consumptions.ts';
import type { Queryable } from './database.ts';
import { loadExpiredReservations } from './decision-states.ts';
import { listLabelsOfDecisions } from './labels.ts';
import { listOutcomesOfDecisions } from './outcomes.ts';
import { loadReviewsOfDecisions } from './reviews.ts';

/**
 * Returns the events recorded about these decisions after they were made, in ledger order for each decision. Decisions
 * without such events are left out.
 */
export async function loadDecisionEvents(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Map<string, PlacedEvent[]>> {
  const by_decision = new Map<string, PlacedEvent[]>();
  if (decision_ids.length === 0) return by_decision;
  const [reviews, labels, outcomes, consumptions, expiries] = await Promise.all([
    loadReviewsOfDecisions(db, workspace_id, decision_ids),
    listLabelsOfDecisions(db, workspace_id, decision_ids),
    listOutcomesOfDecisions(db, workspace_id, decision_ids),
    loadConsumptions(db, workspace_id, decision_ids.map(capabilityIdOf)),
    loadExpiredReservations(db, workspace_id, decision_ids.map(reservationIdOf)),
  ]);
  const add = (decision_id: string, id: string, event: DecisionEvent) => {
    const placed = { decision_id, place: id.slice(4), event };
    const events = by_decision.get(decision_id);
    if (events === undefined) by_decision.set(decision_id, [placed]);
    else events.push(placed);
  };
  for (const review of reviews) {
    add(review.decision_id, review.review_id, {
      type: 'decision.review.recorded',
      at: review.created_at,
      // Without the comment: a replay keeps the events of very many decisions.
      review: {
        review_id: review.review_id,
        action: review.action,
        capability_expires_at: review.capability_expires_at,
      },
    });
  }
  for (const label of labels) {
    add(label.decision_id, label.label_id, { type: 'decision.label.recorded', at: label.created_at, label });
  }
  for (const report of outcomes) {
    add(report.decision_id, report.outcome_id, {
      type: 'decision.outcome.recorded',
      at: report.recorded_at,
      report,
    });
  }
  for (const { decision_id, event_id, consumed_at: at, amount_minor } of consumptions) {
    add(decision_id, event_id, { type: 'capability.consumed', at, amount_minor });
  }
  for (const { decision_id, event_id, let_go_at: at } of expiries) {
    add(decision_id, event_id, { type: 'reservation.expired', at });
  }
  for (const events of by_decision.values()) events.sort(byPlace);
  return by_decision;
}

function byPlace(one: PlacedEvent, other: PlacedEvent): number {
  return one.place < other.place ? -1 : 1;
}
