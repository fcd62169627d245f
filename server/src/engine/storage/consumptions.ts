import type { Consumption } from '@purser/rules/domain/capabilities';
import type { InLedger } from '@purser/rules/domain/ledger';
import type { Client, Queryable } from './database.ts';
import { type InWorkspace, makeInsert, type WorkspaceRows } from './rows.ts';

const COLUMNS = `c.capability_id, c.decision_id, c.agent_id, c.idempotency_key, c.request_hash, c.amount_minor,
  c.currency, c.payee_id, c.merchant, c.external_reference, c.key_id, c.principal_id, c.consumed_at`;

const insertRows = makeInsert<InLedger<Consumption>>('consumptions', {
  capability_id: 'text',
  decision_id: 'text',
  agent_id: 'text',
  idempotency_key: 'text',
  request_hash: 'bytea',
  amount_minor: 'bigint',
  currency: 'text',
  payee_id: 'text',
  merchant: 'text',
  external_reference: 'text',
  key_id: 'text',
  principal_id: 'text',
  consumed_at: 'timestamptz',
  event_id: 'text',
});

const insertKeys = makeInsert<Pick<Consumption, 'idempotency_key' | 'capability_id'>>('consumption_keys', {
  idempotency_key: 'text',
  capability_id: 'text',
});

/** Inserts consumptions and their idempotency keys. */
export function insertConsumptions(
  client: Client,
  parts: readonly WorkspaceRows<InLedger<Consumption>>[],
): Promise<unknown> {
  return Promise.all([insertRows(client, parts), insertKeys(client, parts)]);
}

/** Returns the consumptions made with these idempotency keys; unused keys are left out. */
export async function loadEarlierConsumptions(
  db: Queryable,
  wanted: readonly InWorkspace<{ idempotency_key: string }>[],
): Promise<InWorkspace<Consumption>[]> {
  const result = await db.query<InWorkspace<Consumption>>({
    name: 'load_earlier_consumptions',
    text: `select c.workspace_id, ${COLUMNS}
      from unnest($1::text[], $2::text[]) as w(workspace_id, idempotency_key)
      cross join lateral (
        select capability_id from consumption_keys
        where workspace_id = w.workspace_id and idempotency_key = w.idempotency_key limit 1) as k
      cross join lateral (
        select * from consumptions c
        where c.workspace_id = w.workspace_id and c.capability_id = k.capability_id limit 1) as c`,
    values: [wanted.map((each) => each.workspace_id), wanted.map((each) => each.idempotency_key)],
  });
  return result.rows;
}

/** Returns the capability that each of these idempotency keys is stored for. */
export async function loadConsumptionKeys(
  db: Queryable,
  workspace_id: string,
  idempotency_keys: readonly string[],
): Promise<Pick<Consumption, 'idempotency_key' | 'capability_id'>[]> {
  const result = await db.query<
    Pick<Consumption, 'idempotency_key' | 'capability_id'> & { workspace_id: string }
  >({
    name: 'load_consumption_keys',
    text: `select idempotency_key, capability_id from consumption_keys
      where workspace_id = $1 and idempotency_key = any($2)`,
    values: [workspace_id, idempotency_keys],
  });
  return result.rows;
}

/** Returns the consumptions of these capabilities. */
export async function loadConsumptions(
  db: Queryable,
  workspace_id: string,
  capability_ids: readonly string[],
): Promise<InLedger<Consumption>[]> {
  const result = await db.query<InLedger<Consumption> & { workspace_id: string }>({
    name: 'load_consumptions',
    text: `select ${COLUMNS}, c.event_id from consumptions c where c.workspace_id = $1 and c.capability_id = any($2)`,
    values: [workspace_id, capability_ids],
  });
  return result.rows;
}
