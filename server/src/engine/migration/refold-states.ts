import { foldHistory } from '@purser/rules/domain/decision-history';
import {
  budgetImpact,
  type DecisionState,
  initialState,
  needsStateRow,
} from '@purser/rules/domain/decision-states';
import type pg from 'pg';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { putDecisionStates } from '../storage/decision-states.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import { oneAtATime } from '../storage/transactions.ts';

/** The decisions refolded in one transaction, which locks their workspace. */
const DECISIONS_AT_ONCE = 500;

/**
 * Refolds the states of the decisions that a migration put into `states_to_refold` because a rule of the fold changed, or
 * because a state is stored now where none was; otherwise verification would report an intact history as broken. Budget counters and report counters are corrected
 * too. Each page is one transaction, so that the work can be interrupted at any point and continued. Only one process may
 * call this at a time.
 */
export async function refoldStates(connection: pg.Client): Promise<void> {
  const client = oneAtATime(connection);
  for (;;) {
    const found = await client.query<{ workspace_id: string; decision_id: string }>({
      text: `select workspace_id, decision_id from states_to_refold
        where workspace_id = (select min(workspace_id) from states_to_refold) order by decision_id limit $1`,
      values: [DECISIONS_AT_ONCE],
    });
    const [first] = found.rows;
    if (first === undefined) return;
    const ids = found.rows.map((row) => row.decision_id);
    await client.query('begin');
    try {
      await refoldPage(client, first.workspace_id, ids);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}

async function refoldPage(client: pg.Client, workspace_id: string, ids: readonly string[]): Promise<void> {
  // Nodes that serve meanwhile take the counters for known until the head moves.
  await client.query('update ledger_heads set time_ms = time_ms + 1 where workspace_id = $1', [workspace_id]);
  const records = await loadDecisionCores(client, workspace_id, ids);
  const events = await loadDecisionEvents(client, workspace_id, ids);
  const changed: DecisionState[] = [];
  let is_report_stale = false;
  for (const { decision, state: stored } of records) {
    if (stored === null && !needsStateRow(decision)) continue;
    const before = stored ?? initialState(decision);
    const recorded = (events.get(decision.decision_id) ?? []).map(({ event }) => event);
    const { state } = foldHistory(decision, recorded);
    const was = budgetImpact(before);
    const is = budgetImpact(state);
    const held_minor = is.held_minor - was.held_minor;
    const committed_minor = is.committed_minor - was.committed_minor;
    if (held_minor !== 0 || committed_minor !== 0) {
      await client.query({
        text: `update budgets set held_minor = held_minor + $5, committed_minor = committed_minor + $6
          where workspace_id = $1 and agent_id = $2 and period = $3 and currency = $4`,
        values: [workspace_id, state.agent_id, state.period, state.currency, held_minor, committed_minor],
      });
    }
    is_report_stale ||= state.outcome_state !== before.outcome_state;
    changed.push(state);
  }
  if (changed.length > 0) await putDecisionStates(client, [{ workspace_id, rows: changed }]);
  if (is_report_stale) {
    // Without these rows the report is aggregated again from the beginning.
    for (const table of ['report_counters', 'report_counted', 'report_watermarks']) {
      await client.query(`delete from ${table} where workspace_id = $1`, [workspace_id]);
    }
  }
  await client.query('delete from states_to_refold where workspace_id = $1 and decision_id = any($2)', [
    workspace_id,
    ids,
  ]);
}
