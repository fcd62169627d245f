import { apply, flagsOfExecution } from '@purser/rules/domain/decision-history';
import { budgetImpact, effectiveNow } from '@purser/rules/domain/decision-states';
import {
  exactRepeat,
  judgeOutcome,
  type Outcome,
  type OutcomeSource,
  type OutcomeType,
  outcomeBody,
} from '@purser/rules/domain/outcomes';
import { recordEventData } from '@purser/rules/domain/webhooks';
import { type Command, done, refuse } from '../lane/command.ts';

export interface CreateOutcomeInput {
  decision_id: string;
  /** The only agent whose decisions the caller may report on; null: all agents. */
  only_agent: string | null;
  type: OutcomeType;
  amount_minor: number | null;
  /** Null: the currency of the decision. */
  currency: string | null;
  external_reference: string | null;
  /** ISO 8601 UTC; null: now. */
  occurred_at: string | null;
  source: OutcomeSource;
  /** The rail may report an execution also after it reported that there would be none: then the money moved all the same. */
  may_follow_release?: true;
  /** JSON text; none by default. */
  usage?: string | null;
}

export interface CreatedOutcome {
  /** True if it had been recorded before. */
  repeated: boolean;
  outcome: Outcome;
}

/** The tolerated difference between the clocks of two machines. */
const TOLERATED_AHEAD_MS = 5 * 60_000;

/** Records what happened to a spend, and settles its hold. An exact repeat is answered with the stored record. */
export const createOutcome: Command<CreateOutcomeInput, CreatedOutcome> = {
  name: 'createOutcome',
  needs: ({ decision_id }) => ({ decisions: [decision_id], outcomes_of: [decision_id], webhooks: true }),
  apply(set, input, origin) {
    const record = set.records.decision(input.decision_id);
    if (
      record === undefined ||
      (input.only_agent !== null && record.decision.agent.id !== input.only_agent)
    ) {
      return refuse('not_found', 'No such decision.');
    }
    const { decision, state } = record;
    const { type, source, external_reference } = input;
    const currency = input.currency ?? decision.currency;
    if (currency !== decision.currency) {
      return refuse(
        'currency_mismatch',
        `The decision is in ${decision.currency}, the outcome in ${currency}.`,
      );
    }
    const earlier = set.records.outcomesOf(decision.decision_id);
    const report = { type, amount_minor: input.amount_minor, currency, external_reference, source };
    const repeat = exactRepeat(earlier, report);
    if (repeat !== undefined) return done({ repeated: true, outcome: repeat });
    const occurred_at = input.occurred_at ?? set.now;
    if (Date.parse(occurred_at) > set.now_ms + TOLERATED_AHEAD_MS) {
      return refuse('invalid_request', 'occurred_at: must not be more than 5 minutes in the future');
    }
    const judged = judgeOutcome(earlier, report, input.may_follow_release);
    if (!judged.ok) return refuse('outcome_conflict', judged.problem);
    const outcome: Outcome = {
      outcome_id: set.newId('outcome'),
      decision_id: decision.decision_id,
      ...report,
      amount_minor: judged.amount_minor,
      occurred_at,
      key_id: origin.actor.key_id,
      principal_id: origin.actor.principal_id,
      recorded_at: set.now,
      flags: [...flagsOfExecution(decision, state, type, judged.amount_minor), ...judged.flags],
      usage: input.usage ?? null,
    };
    const { state: after } = apply(set.records.history(decision.decision_id), {
      type: 'decision.outcome.recorded',
      at: set.now,
      report: outcome,
    });
    const budget = set.budget(after.agent_id, after.period, after.currency);
    const was = budgetImpact(state);
    const is = budgetImpact(after);
    const held_minor = budget.held_minor - was.held_minor + is.held_minor;
    const committed_minor = budget.committed_minor - was.committed_minor + is.committed_minor;
    if (!Number.isSafeInteger(held_minor + committed_minor)) {
      return refuse('invalid_request', "amount_minor: exceeds the range of the month's counter");
    }
    // After this point the outcome counts: nothing may refuse it.
    const { event_id } = set.records.addOutcome(outcome);
    const brief = { ...decision, effective_decision: effectiveNow(decision, after) };
    set.publish('decision.outcome.recorded', recordEventData(outcomeBody(outcome), brief), event_id);
    return done({ repeated: false, outcome });
  },
};
