import { type PostgresConnection, SUPERUSER, withClient } from '@purser/embedded-postgres';
import {
  type DecisionRow,
  decisionDataHash,
  eventHash,
  makeIdsAt,
  migrate,
  periodOf,
  sha256,
} from '@purser/server/tools';
import pg from 'pg';

const DATABASE = 'bench_plain';
/**
 * Transactions at a time, though 64 clients wait: all of them lock the same head, so more connections would only
 * wait inside PostgreSQL instead of before it.
 */
export const PLAIN_CONNECTIONS = 16;
const PLAIN_CLIENTS = 64;
/** Decisions of the service whose rows are written again and again under new ids. */
const TEMPLATES = 200;
const COPIED = ['workspaces', 'agents', 'authorities', 'ledger_heads', 'budgets'];

/** The same rows written as one would without a lane: one transaction a decision, statement by statement. */
export interface PlainWay {
  /** Decisions a second with 64 clients. */
  run(seconds: number): Promise<number>;
  close(): Promise<void>;
}

interface Head {
  seq: string;
  hash: Buffer;
}

type Ask = (name: string, text: string, values: unknown[]) => Promise<pg.QueryResult>;

/** One decision in a transaction of its own; every statement prepared, and a round trip. */
async function decideOnce(client: pg.PoolClient, template: DecisionRow, workspace_id: string): Promise<void> {
  const ask: Ask = (name, text, values) => client.query({ name, text, values });
  const now_ms = Date.now();
  const newId = makeIdsAt(now_ms, Math.random);
  const decision_id = newId('decision');
  const row: DecisionRow = {
    ...template,
    decision_id,
    created_at: new Date(now_ms).toISOString(),
    document: template.document.replaceAll(template.decision_id.slice(4), decision_id.slice(4)),
    idempotency_key: decision_id,
  };
  const period = periodOf(now_ms);
  await client.query('begin');
  const head = await readRows(ask, workspace_id, row, period);
  await insertDecision(ask, workspace_id, row);
  const moved = await appendEvent(ask, workspace_id, row, head, newId('event'));
  await ask(
    'hold',
    `insert into budgets (workspace_id, agent_id, period, currency, held_minor, committed_minor)
      values ($1, $2, $3, $4, $5, 0)
      on conflict (workspace_id, agent_id, period, currency) do update set held_minor = budgets.held_minor + $5`,
    [workspace_id, row.agent_id, period, row.currency, row.requested_amount_minor],
  );
  await ask('move', 'update ledger_heads set seq = $2, hash = $3, time_ms = $4 where workspace_id = $1', [
    workspace_id,
    moved.seq,
    moved.hash,
    now_ms,
  ]);
  await client.query('commit');
}

/** Locks the head and reads what a decision is made from. Returns the head. */
async function readRows(
  ask: Ask,
  workspace_id: string,
  { agent_id, currency, idempotency_key }: DecisionRow,
  period: string,
): Promise<Head> {
  const { rows } = await ask(
    'head',
    'select seq, hash, time_ms from ledger_heads where workspace_id = $1 for update',
    [workspace_id],
  );
  const agents = await ask('agent', 'select * from agents where workspace_id = $1 and agent_id = $2', [
    workspace_id,
    agent_id,
  ]);
  await ask(
    'authority',
    'select * from authorities where workspace_id = $1 and agent_id = $2 and version = $3',
    [workspace_id, agent_id, agents.rows[0].authority_version],
  );
  await ask(
    'budget',
    'select * from budgets where workspace_id = $1 and agent_id = $2 and period = $3 and currency = $4',
    [workspace_id, agent_id, period, currency],
  );
  await ask(
    'earlier',
    'select * from idempotency_keys where workspace_id = $1 and agent_id = $2 and idempotency_key = $3',
    [workspace_id, agent_id, idempotency_key],
  );
  return rows[0] as Head;
}

async function insertDecision(ask: Ask, workspace_id: string, row: DecisionRow): Promise<void> {
  await ask(
    'decision',
    `insert into decisions (workspace_id, decision_id, agent_id, idempotency_key, decision, mode, reason_codes, merchant,
      requested_amount_minor, currency, created_at, document, core, live_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      workspace_id,
      row.decision_id,
      row.agent_id,
      row.idempotency_key,
      row.decision,
      row.mode,
      row.reason_codes,
      row.merchant,
      row.requested_amount_minor,
      row.currency,
      row.created_at,
      row.document,
      row.core,
      row.live_at,
    ],
  );
  await ask(
    'key',
    `insert into idempotency_keys (workspace_id, agent_id, idempotency_key, request_hash, decision_id)
      values ($1, $2, $3, $4, $5)`,
    [workspace_id, row.agent_id, row.idempotency_key, row.request_hash, row.decision_id],
  );
}

/** Adds the decision's link to the chain. Returns the new head. */
async function appendEvent(ask: Ask, workspace_id: string, row: DecisionRow, head: Head, id: string) {
  const unsealed = {
    seq: Number(head.seq) + 1,
    id,
    type: 'decision.created',
    subject_type: 'decision',
    subject_id: row.decision_id,
    occurred_at: row.created_at,
    data_hash: decisionDataHash(row),
    prev_hash: head.hash,
  } as const;
  const hash = eventHash(unsealed);
  await ask(
    'event',
    `insert into ledger_events (workspace_id, seq, id, type, subject_type, subject_id, occurred_at, data_hash,
      prev_hash, hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [workspace_id, ...Object.values(unsealed), hash],
  );
  return { seq: unsealed.seq, hash };
}

/**
 * Makes a database beside the service's with the same schema, and copies a workspace that has decisions into it.
 * Decides nothing: the documents are those of the service, so that the plain way has less to do, not more.
 */
export async function preparePlainWay(server: PostgresConnection, workspace_id: string): Promise<PlainWay> {
  const admin = { ...server, ...SUPERUSER };
  await withClient(admin, (client) => client.query(`create database ${DATABASE}`));
  const place = { ...admin, database: DATABASE };
  await migrate(place);
  const templates = await withClient({ ...admin, database: server.database }, async (from) => {
    for (const table of COPIED) {
      const found = await from.query(
        `select coalesce(json_agg(t), '[]')::text as rows from ${table} t where workspace_id = $1`,
        [workspace_id],
      );
      await withClient(place, (to) =>
        to.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`, [
          found.rows[0]?.rows,
        ]),
      );
    }
    const { rows } = await from.query(
      'select * from decisions where workspace_id = $1 order by decision_id limit $2',
      [workspace_id, TEMPLATES],
    );
    return rows.map((row) => ({
      ...row,
      requested_amount_minor: Number(row.requested_amount_minor),
      request_hash: sha256(row.document),
    })) as DecisionRow[];
  });
  if (templates.length === 0) throw new Error('There are no decisions to write again.');
  const pool = new pg.Pool({ ...place, max: PLAIN_CONNECTIONS, application_name: 'bench-plain' });
  let next = 0;
  return {
    async run(seconds) {
      let decisions = 0;
      const begun_at_ms = performance.now();
      const end_ms = begun_at_ms + seconds * 1000;
      const runClient = async () => {
        while (performance.now() < end_ms) {
          const template = templates[next++ % templates.length] as DecisionRow;
          const client = await pool.connect();
          await decideOnce(client, template, workspace_id).finally(() => client.release());
          decisions += 1;
        }
      };
      await Promise.all(Array.from({ length: PLAIN_CLIENTS }, runClient));
      return (decisions * 1000) / (performance.now() - begun_at_ms);
    },
    close: () => pool.end(),
  };
}
