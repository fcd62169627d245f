import type { KnownMerchantRow } from '@purser/rules/policy/known-merchants';
import type { Client, Queryable } from '../database.ts';
import { type InWorkspace, makeInsert } from '../rows.ts';

/** Names what an agent is known to have paid. */
export interface KnownMerchantRef {
  agent_id: string;
  key: string;
}

/** Returns those of these that are known. */
export async function loadKnownMerchants(
  db: Queryable,
  wanted: readonly InWorkspace<KnownMerchantRef>[],
): Promise<InWorkspace<KnownMerchantRow>[]> {
  const result = await db.query<InWorkspace<KnownMerchantRow>>({
    name: 'load_known_merchants',
    text: `select k.* from unnest($1::text[], $2::text[], $3::text[]) as w(workspace_id, agent_id, key)
      join known_merchants k on k.workspace_id = w.workspace_id and k.agent_id = w.agent_id and k.key = w.key`,
    values: [
      wanted.map((each) => each.workspace_id),
      wanted.map((each) => each.agent_id),
      wanted.map((each) => each.key),
    ],
  });
  return result.rows;
}

const COLUMNS = { agent_id: 'text', key: 'text', since: 'timestamptz', decision_id: 'text' } as const;

/** Keeps what was made known, where it was not known before. */
export const addKnownMerchants = makeInsert<KnownMerchantRow>('known_merchants', COLUMNS, {
  conflict: ['agent_id', 'key'],
  update: [],
});

/** Keeps what was made known, also where a later decision was kept as the first that made it known. */
export const addEarlierKnownMerchants = makeInsert<KnownMerchantRow>('known_merchants', COLUMNS, {
  conflict: ['agent_id', 'key'],
  update: ['since', 'decision_id'],
  where: '(excluded.since, excluded.decision_id) < (known_merchants.since, known_merchants.decision_id)',
});

/** The workspaces whose earlier reviews and outcomes were not gone through yet, in the order of their ids. */
export async function listWorkspacesToBackfill(
  db: Queryable,
  page: { after: string; limit: number },
): Promise<string[]> {
  const result = await db.query<{ workspace_id: string }>({
    name: 'list_workspaces_to_fill',
    text: `select workspace_id from known_merchants_to_fill where workspace_id > $1
      order by workspace_id limit $2`,
    values: [page.after, page.limit],
  });
  return result.rows.map((row) => row.workspace_id);
}

/** Whether earlier reviews and outcomes of a workspace were not gone through yet. */
export async function needsBackfill(db: Queryable, workspace_id: string): Promise<boolean> {
  const result = await db.query({
    text: 'select from known_merchants_to_fill where workspace_id = $1',
    values: [workspace_id],
  });
  return result.rowCount === 1;
}

/**
 * Locks the filling of a workspace until the transaction ends and returns the decision that it has come to; undefined where
 * it is done, or another node holds the lock.
 */
export async function lockBackfill(client: Client, workspace_id: string): Promise<string | undefined> {
  const result = await client.query<{ after_decision_id: string }>({
    text: `select after_decision_id from known_merchants_to_fill where workspace_id = $1
      for update skip locked`,
    values: [workspace_id],
  });
  return result.rows[0]?.after_decision_id;
}

/** Notes the decision that the filling of a workspace has come to; null: it is done. */
export async function recordBackfill(
  client: Client,
  workspace_id: string,
  upto: string | null,
): Promise<void> {
  await client.query(
    upto === null
      ? { text: 'delete from known_merchants_to_fill where workspace_id = $1', values: [workspace_id] }
      : {
          text: 'update known_merchants_to_fill set after_decision_id = $2 where workspace_id = $1',
          values: [workspace_id, upto],
        },
  );
}

/** The next decisions of a workspace with reviews or outcomes, in the order of their ids. */
export async function listSettledDecisionIds(
  db: Queryable,
  workspace_id: string,
  page: { after: string; limit: number },
): Promise<string[]> {
  const result = await db.query<{ decision_id: string }>({
    text: `select decision_id from decision_states where workspace_id = $1 and decision_id > $2
      and (review_id is not null or outcome_state <> 'NONE') order by decision_id limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows.map((row) => row.decision_id);
}
