import { type DecisionEvent, foldHistory } from '../domain/decision-history.ts';
import { authorizedMinor, effectiveNow } from '../domain/decision-states.ts';
import type { DecisionCore } from '../domain/decisions.ts';
import type { OutcomeReport, OutcomeSource } from '../domain/outcomes.ts';
import type { AskedSpend } from './spends.ts';

/** The part of a decision that lines are compared with, as it is stored. It follows from the decision and its records. */
export interface AskedRow {
  decision_id: string;
  agent_id: string;
  created_at: string;
  merchant: string;
  payee_id: string | null;
  currency: string;
  /** Null: no payment is expected, since it failed, was cancelled, or nobody asked. */
  expected_minor: number | null;
  is_refused: boolean;
  /** JSON: the names that the rail gave it, ascending. */
  rail_references: string;
}

/** The last word of one source on what was paid: an amount; null: nothing; undefined: it said nothing. */
function paidBy(reports: readonly OutcomeReport[], source: OutcomeSource): number | null | undefined {
  let paid: number | null | undefined;
  for (const report of reports) {
    if (report.source !== source) continue;
    if (report.type === 'SPEND_EXECUTED') paid = Math.max(paid ?? 0, report.amount_minor ?? 0);
    else if (report.type === 'SPEND_FAILED' || report.type === 'SPEND_CANCELLED') paid ??= null;
  }
  return paid;
}

/**
 * The amount that is expected to be paid for a decision: what the rail executed, else what was authorized, else what was requested.
 * A client's word can only lower it. Minor units; null: nothing.
 */
function expectedMinor(authorized_minor: number, reports: readonly OutcomeReport[]): number | null {
  const executed = paidBy(reports, 'PAYMENT_RAIL');
  if (executed !== undefined) return executed;
  const said = paidBy(reports, 'CLIENT_REPORTED');
  if (said === undefined) return authorized_minor;
  return said === null ? null : Math.min(said, authorized_minor);
}

/**
 * Makes the part of a decision that lines are compared with. `events`: its records, in the order of the ledger. `consumed_as`: the reference that
 * its capability was consumed with. A reference that only the agent gave is left out.
 */
export function askedRow(
  decision: DecisionCore,
  events: readonly DecisionEvent[],
  consumed_as: string | null,
): AskedRow {
  const { state, reports } = foldHistory(decision, events);
  const { decision_id, agent, created_at, action, currency, mode } = decision;
  const authorized_minor = authorizedMinor(decision, state) || action.amount_minor;
  const from_rail = reports.flatMap(({ source, external_reference }) =>
    source === 'PAYMENT_RAIL' && external_reference !== null ? [external_reference] : [],
  );
  const references = new Set([...(consumed_as === null ? [] : [consumed_as]), ...from_rail]);
  return {
    decision_id,
    agent_id: agent.id,
    created_at,
    merchant: action.merchant,
    payee_id: action.payee_id ?? null,
    currency,
    // An observed decision was made of a payment that was seen; that is no asking.
    expected_minor: decision.observed === undefined ? expectedMinor(authorized_minor, reports) : null,
    is_refused: mode === 'ENFORCE' && effectiveNow(decision, state) !== 'ALLOW',
    rail_references: JSON.stringify([...references].sort()),
  };
}

/** A stored row as lines are compared with it. */
export function askedSpend({ created_at, rail_references, agent_id: _agent, ...row }: AskedRow): AskedSpend {
  return {
    ...row,
    created_ms: Date.parse(created_at),
    references: JSON.parse(rail_references) as string[],
  };
}
