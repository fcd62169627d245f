import type { Decision } from '@purser/contract/decisions';
import { majorUnits } from '@purser/contract/money';
import { REASONS } from '@purser/contract/reasons';
import { PEOPLE_COLUMNS } from '@purser/contract/routes/decision-reads';
import type { Caller } from '@purser/rules/domain/keys';
import { type Outcome, summarizeOutcomes } from '@purser/rules/domain/outcomes';
import { csvLine } from '@purser/rules/values/csv';
import { pushTo } from '@purser/rules/values/maps';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadMemberNames } from '../../engine/storage/members.ts';
import { listOutcomesOfDecisions } from '../../engine/storage/outcomes.ts';

/** The rows that the table shows beside decisions. */
interface Beside {
  /** The names of reviewers by principal. */
  names: ReadonlyMap<string, string>;
  outcomes: ReadonlyMap<string, readonly Outcome[]>;
}

/** Returns who reviewed a decision: everybody whose approval counts, or else the author of the review in force. */
export function reviewersOf({ review, review_progress }: Decision): (string | null)[] {
  const given = review?.action === 'ALLOW' ? (review_progress?.given ?? []) : [];
  const who = given.length > 0 ? given : review === null ? [] : [review];
  return who.map(({ principal_id }) => principal_id);
}

/**
 * Loads the rows beside decisions. An agent's key gets the principals of reviewers and not their names, as it
 * does elsewhere.
 */
async function loadBeside(db: Queryable, caller: Caller, decisions: readonly Decision[]): Promise<Beside> {
  const { workspace_id } = caller;
  const reviewers = caller.kind === 'agent' ? [] : decisions.flatMap(reviewersOf);
  const principals = [...new Set(reviewers)].filter((each) => each !== null);
  const reported = decisions.filter(({ outcome_state }) => outcome_state !== 'NONE');
  const [names, outcomes] = await Promise.all([
    principals.length === 0 ? new Map<string, string>() : loadMemberNames(db, workspace_id, principals),
    reported.length === 0
      ? []
      : listOutcomesOfDecisions(
          db,
          workspace_id,
          reported.map(({ decision_id }) => decision_id),
        ),
  ]);
  const by_decision = new Map<string, Outcome[]>();
  for (const outcome of outcomes) pushTo(by_decision, outcome.decision_id, outcome);
  return { names, outcomes: by_decision };
}

/** A field of a context as a cell; undefined where there is none. Objects and lists are JSON. */
function contextCell(context: Decision['context'], name: string): string | number | boolean | undefined {
  const own = (of: unknown, key: string): unknown =>
    typeof of === 'object' && of !== null && Object.hasOwn(of, key)
      ? (of as Record<string, unknown>)[key]
      : undefined;
  const found = own(context, name) ?? name.split('.').reduce(own, context as unknown);
  if (found === undefined || found === null) return undefined;
  return typeof found === 'object' ? JSON.stringify(found) : (found as string | number | boolean);
}

function moneyCells({ currency }: Decision, outcomes: readonly Outcome[]) {
  if (outcomes.length === 0) return { paid_amount: null, refunded_amount: null, reference: null };
  const { executed_minor, refunded_minor } = summarizeOutcomes(outcomes);
  const references = new Set(outcomes.flatMap(({ external_reference }) => external_reference ?? []));
  return {
    paid_amount: majorUnits(executed_minor, currency),
    refunded_amount: refunded_minor === 0 ? null : majorUnits(refunded_minor, currency),
    reference: references.size === 0 ? null : [...references].join('; '),
  };
}

function lineOf(decision: Decision, { names, outcomes }: Beside, context: readonly string[]): string {
  const { action, currency, review, label } = decision;
  const reviewers = reviewersOf(decision).map((principal_id) =>
    principal_id === null ? 'a key' : (names.get(principal_id) ?? principal_id),
  );
  const cells: Record<(typeof PEOPLE_COLUMNS)[number], string | null> = {
    date: decision.created_at.slice(0, 19).replace('T', ' '),
    agent: decision.agent.slug,
    merchant: action.merchant,
    description: action.description ?? null,
    task: decision.task,
    requested_amount: majorUnits(decision.requested_amount_minor, currency),
    authorized_amount: majorUnits(decision.authorized_amount_minor, currency),
    currency,
    mode: decision.mode,
    decision: decision.decision,
    effective_decision: decision.effective_decision,
    reason: REASONS[decision.reason_code].label,
    explanation: decision.explanation,
    review_state: decision.review_state,
    reviewer: reviewers.length === 0 ? null : reviewers.join('; '),
    review_reason: review?.reason_code ?? null,
    comment: review?.comment ?? label?.comment ?? null,
    label: label?.label ?? null,
    outcome: decision.outcome_state,
    ...moneyCells(decision, outcomes.get(decision.decision_id) ?? []),
    decision_id: decision.decision_id,
  };
  return csvLine([
    ...PEOPLE_COLUMNS.map((column) => cells[column]),
    ...context.map((name) => contextCell(decision.context, name)),
  ]);
}

/**
 * The table of decisions for people: `head` names the columns, and `linesOf` writes decisions as a caller may see them.
 * Amounts are major units without groups, so that a spreadsheet adds them up; times are UTC. `context`: the fields of the
 * requests' contexts that become columns.
 */
export function peopleTable(db: Queryable, caller: Caller, context: readonly string[]) {
  return {
    head: csvLine([...PEOPLE_COLUMNS, ...context.map((name) => `context.${name}`)]),
    async linesOf(decisions: readonly Decision[]): Promise<(decision: Decision) => string> {
      const beside = await loadBeside(db, caller, decisions);
      return (decision) => lineOf(decision, beside, context);
    },
  };
}
