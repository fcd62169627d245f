import type { CounterRow } from '@purser/rules/counters/counters';
import type { BudgetRow } from '@purser/rules/domain/budget';
import { decodeCore } from '@purser/rules/domain/decision-document';
import { apply, beginHistory, type PlacedEvent } from '@purser/rules/domain/decision-history';
import {
  budgetImpact,
  type DecisionState,
  holdExpiresAt,
  needsStateRow,
} from '@purser/rules/domain/decision-states';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import type { LedgerBreak } from '@purser/rules/domain/ledger';
import { needsSignature } from '@purser/rules/reviews/signed-tiers';
import { paidUnsigned } from '@purser/rules/signing/history';
import { loadConsumptionKeys } from '../storage/consumptions.ts';
import type { Client, Queryable } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { loadExpiringHolds } from '../storage/decision-states.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import { loadAllBudgets } from '../storage/derived/budgets.ts';
import type { ChainRow, OrphanTable } from './chain-pages.ts';
import {
  type CounterSums,
  countersOfDecision,
  countersOfUnchanged,
  type JoiningByAgent,
} from './counters.ts';
import type { Findings } from './findings.ts';
import { checkKnownMerchants } from './known-merchants.ts';
import { checkLessons, type LearningProgress } from './lessons.ts';
import { checkTiers, type PolicyPlaces } from './tiers.ts';

const BUDGETS_AT_ONCE = 1_000;

/** Counts and sums along the chain, to be compared with the tables at the end. Grows only with agents and months. */
export interface ChainTally {
  /** The number of rows of each of these tables that the walk has accounted for. */
  found: Record<OrphanTable, number>;
  budgets: Map<string, { row: BudgetRow; seq: number }>;
  counters: CounterSums;
  joining: JoiningByAgent;
  learnt: LearningProgress;
  policies: PolicyPlaces;
  /** True if what earlier history made known was not gone through yet. */
  is_filling: boolean;
  /** True if the stored history of questions is right so far. */
  has_right_questions: boolean;
}

const budgetName = ({ agent_id, period, currency }: BudgetRow) => `${agent_id} ${period} ${currency}`;

/** Adds what a decision counts to the counter of its month. */
function count(tally: ChainTally, counts: BudgetRow, seq: number): void {
  const name = budgetName(counts);
  const sum = tally.budgets.get(name);
  if (sum === undefined) {
    tally.budgets.set(name, { row: { ...counts }, seq });
    return;
  }
  sum.row.held_minor += counts.held_minor;
  sum.row.committed_minor += counts.committed_minor;
  sum.seq = Math.max(sum.seq, seq);
}

/**
 * Counts the hold of a decision that has no records. The requested amount was held unless the spend was capped; the held
 * amount is then only in the core, as are the limits over time that it counts in.
 */
export function countUnchanged(tally: ChainTally, event: ChainRow): void {
  if (event.decision === 'DENY') return;
  const decision = event.held === null ? null : decodeCore(event.held);
  const held_minor = decision?.reservation.amount_minor ?? (event.requested_amount_minor as number);
  if (decision !== null) tally.counters.add(countersOfUnchanged(decision));
  const { agent_id, currency, made_at } = event;
  const period = (made_at as string).slice(0, 7);
  count(
    tally,
    { agent_id: agent_id as string, period, currency: currency as string, held_minor, committed_minor: 0 },
    event.seq,
  );
}

function sameState(one: DecisionState, other: DecisionState): boolean {
  return (Object.keys(one) as (keyof DecisionState)[]).every((column) => one[column] === other[column]);
}

/** The state that a decision must have according to its records. */
interface RebuiltState {
  state: DecisionState;
  /** True if it must be stored: only if something was recorded, or if it was stored with the decision. */
  is_stored: boolean;
  /** True if it ever counted in the budget of its month, which then must have a counter. */
  ever_counted: boolean;
  /** False if a capability was used that nothing had issued. */
  was_issued: boolean;
}

function counts(state: DecisionState): boolean {
  const { held_minor, committed_minor } = budgetImpact(state);
  return held_minor > 0 || committed_minor > 0;
}

/** Folds the records of a decision. Throws if one of them cannot be applied. */
function rebuiltState(decision: DecisionCore, events: readonly PlacedEvent[]): RebuiltState {
  let history = beginHistory(decision);
  let ever_counted = counts(history.state);
  let was_issued = true;
  for (const { event } of events) {
    if (event.type === 'capability.consumed') was_issued &&= history.state.capability_status !== null;
    history = apply(history, event);
    ever_counted ||= counts(history.state);
  }
  const is_stored = events.length > 0 || needsStateRow(decision);
  return { state: history.state, is_stored, ever_counted, was_issued };
}

/**
 * Rebuilds the states of decisions from their records, and reports stored states and expiring holds that differ.
 * `events` are those that created the decisions, whose rows must be intact; `recorded` are the ids of the decisions that
 * have records.
 */
export async function checkStates(
  db: Queryable,
  workspace_id: string,
  events: readonly ChainRow[],
  recorded: ReadonlySet<string>,
  tally: ChainTally,
  findings: Findings,
): Promise<void> {
  if (events.length === 0) return;
  const ids = events.map((event) => event.subject_id);
  const [records, recorded_events] = await Promise.all([
    loadDecisionCores(db, workspace_id, ids),
    loadDecisionEvents(
      db,
      workspace_id,
      ids.filter((id) => recorded.has(id)),
    ),
  ]);
  const by_id = new Map(records.map((each) => [each.decision.decision_id, each]));
  const expiring: (DecisionState & { expires_at: string; seq: number })[] = [];
  const differs = (seq: number, id: string, what: string) =>
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: `The state of decision ${id} ${what}.` });

  for (const { seq, subject_id } of events) {
    const found = by_id.get(subject_id);
    if (found === undefined) continue;
    if (found.state !== null) tally.found.decision_states += 1;
    const recorded = recorded_events.get(subject_id) ?? [];
    let rebuilt: RebuiltState;
    let counters: CounterRow[];
    try {
      rebuilt = rebuiltState(found.decision, recorded);
      counters = countersOfDecision(found.decision, recorded, tally.joining);
    } catch {
      differs(seq, subject_id, 'cannot be recomputed from its records');
      continue;
    }
    const { state, is_stored, ever_counted, was_issued } = rebuilt;
    if (found.state === null && is_stored) differs(seq, subject_id, 'is gone');
    else if (found.state !== null && !is_stored) differs(seq, subject_id, 'is in no event');
    else if (found.state !== null && !sameState(state, found.state)) {
      differs(seq, subject_id, 'differs from its records');
    }
    if (!was_issued) findings.addDerived(usedUnissued(seq, found.decision));
    const { agent_id, period, currency } = state;
    tally.counters.add(counters);
    if (ever_counted) count(tally, { agent_id, period, currency, ...budgetImpact(state) }, seq);
    const expires_at = holdExpiresAt(state);
    if (expires_at !== null) expiring.push({ ...state, expires_at, seq });
  }
  // Pages are checked concurrently, so the tally must be read after the await, not before it.
  const taught = events.flatMap(({ seq, subject_id }) => {
    const decision = by_id.get(subject_id)?.decision;
    return decision === undefined ? [] : { seq, decision, events: recorded_events.get(subject_id) ?? [] };
  });
  await checkTiers(db, workspace_id, taught, tally.policies, findings);
  const lessons = await checkLessons(db, workspace_id, taught, tally.learnt, findings);
  tally.found.decision_lessons += lessons;
  const known = await checkKnownMerchants(db, workspace_id, taught, tally.is_filling, findings);
  tally.found.known_merchants += known;
  if (expiring.length === 0) return;
  const holds = new Map(
    (await loadExpiringHolds(db, workspace_id, expiring)).map((hold) => [hold.decision_id, hold]),
  );
  for (const { decision_id, period, seq } of expiring) {
    if (holds.get(decision_id)?.period === period) tally.found.expiring_holds += 1;
    else {
      const detail = `The hold of decision ${decision_id} is missing from the expiring holds.`;
      findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
    }
  }
}

/** The break of a capability that was used and that no approval had issued. */
function usedUnissued(seq: number, decision: DecisionCore): LedgerBreak {
  const { decision_id } = decision;
  return needsSignature(decision)
    ? { seq, kind: 'SIGNATURE_MISSING', detail: paidUnsigned(decision_id) }
    : {
        seq,
        kind: 'ROW_MISMATCH',
        detail: `The capability of decision ${decision_id} was used and never issued.`,
      };
}

/** Reports budget counters that are not the sums of what all decisions count. */
export async function checkBudgets(
  db: Queryable,
  workspace_id: string,
  tally: ChainTally,
  findings: Findings,
): Promise<void> {
  const left = new Map(tally.budgets);
  let after = { agent_id: '', period: '', currency: '' };
  for (;;) {
    const rows = await loadAllBudgets(db, workspace_id, { after, limit: BUDGETS_AT_ONCE });
    for (const row of rows) {
      const name = budgetName(row);
      const expected = left.get(name);
      left.delete(name);
      if (expected === undefined) {
        findings.addOrphan(`The row of budget ${name} is in no event.`);
      } else if (
        row.held_minor !== expected.row.held_minor ||
        row.committed_minor !== expected.row.committed_minor
      ) {
        const { held_minor, committed_minor } = expected.row;
        const detail = `The row of budget ${name} is not the sum of its decisions: ${held_minor} held and ${committed_minor} committed.`;
        findings.addDerived({ seq: expected.seq, kind: 'ROW_MISMATCH', detail });
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BUDGETS_AT_ONCE) break;
    after = last;
  }
  for (const [name, { seq }] of left) {
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail: `The row of budget ${name} is gone.` });
  }
}

/** Reports consumptions whose idempotency key does not lead to them. */
export async function checkConsumptionKeys(
  walk: { workspace_id: string; findings: Findings; tally: { found: { consumption_keys: number } } },
  db: Client,
  page: readonly ChainRow[],
  rows: ReadonlyMap<number, { data: Record<string, unknown> }>,
): Promise<void> {
  const events = page.filter((event) => event.type === 'capability.consumed' && rows.has(event.seq));
  if (events.length === 0) return;
  const keyOf = (event: ChainRow) => rows.get(event.seq)?.data.idempotency_key as string;
  const keys = await loadConsumptionKeys(db, walk.workspace_id, events.map(keyOf));
  const leads_to = new Map(keys.map((row) => [row.idempotency_key, row.capability_id]));
  for (const event of events) {
    if (leads_to.get(keyOf(event)) === event.subject_id) walk.tally.found.consumption_keys += 1;
    else {
      const detail = `The idempotency key of ${event.subject_type} ${event.subject_id} does not point to it.`;
      walk.findings.addDerived({ seq: event.seq, kind: 'ROW_MISMATCH', detail });
    }
  }
}
