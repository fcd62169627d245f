import type { Outcome } from '@purser/rules/domain/outcomes';
import type { Queryable } from './database.ts';
import { type InWorkspace, makeInsert, withoutWorkspace } from './rows.ts';

const COLUMNS = `outcome_id, decision_id, type, amount_minor, currency, external_reference, occurred_at, source,
  key_id, principal_id, recorded_at, flags, usage`;

export const insertOutcomes = makeInsert<Outcome>('outcomes', {
  outcome_id: 'text',
  decision_id: 'text',
  type: 'text',
  amount_minor: 'bigint',
  currency: 'text',
  external_reference: 'text',
  occurred_at: 'timestamptz',
  source: 'text',
  key_id: 'text',
  principal_id: 'text',
  recorded_at: 'timestamptz',
  flags: 'words',
  usage: 'text',
});

/** Returns the outcomes with these ids. */
export async function loadOutcomes(
  db: Queryable,
  workspace_id: string,
  outcome_ids: readonly string[],
): Promise<Outcome[]> {
  const result = await db.query<Outcome & { workspace_id: string }>({
    name: 'load_outcomes',
    text: `select ${COLUMNS} from outcomes where workspace_id = $1 and outcome_id = any($2)`,
    values: [workspace_id, outcome_ids],
  });
  return result.rows;
}

/** Returns all outcomes of these decisions of several workspaces, in the order in which they were recorded. */
export async function loadOutcomesOfDecisions(
  db: Queryable,
  wanted: readonly InWorkspace<{ decision_id: string }>[],
): Promise<InWorkspace<Outcome>[]> {
  const result = await db.query<InWorkspace<Outcome>>({
    name: 'load_outcomes_of_decisions',
    text: `select o.* from unnest($1::text[], $2::text[]) as w(workspace_id, decision_id)
      cross join lateral (
        select workspace_id, ${COLUMNS} from outcomes
        where workspace_id = w.workspace_id and decision_id = w.decision_id and decision_id <> ''
        order by outcome_id) as o`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.decision_id)],
  });
  return result.rows;
}

/** Returns all outcomes of these decisions of one workspace, in the order in which they were recorded. */
export async function listOutcomesOfDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Outcome[]> {
  const found = await loadOutcomesOfDecisions(
    db,
    decision_ids.map((decision_id) => ({ workspace_id, decision_id })),
  );
  return found.map(withoutWorkspace);
}
