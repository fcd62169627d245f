import type { LedgerHead } from '../domain/ledger.ts';
import type { Workspace } from '../domain/workspace.ts';
import type { Client, Queryable } from './database.ts';

const COLUMNS = 'workspace_id, name, mode, plan, trial_plan, trial_started_at, trial_ends_at, created_at';

/** The head of a chain as the lane locks it, with the database's clock read under the lock. */
export interface LockedHead extends LedgerHead {
  /** The last time used in this workspace, ms. */
  time_ms: number;
  /** Whether it has webhook endpoints, disabled ones among them. */
  has_webhooks: boolean;
  /** The database's clock, ms. */
  clock_ms: number;
}

/** Locks the workspace's head until the transaction ends. Undefined: there is no such workspace. */
export async function lockHead(client: Client, workspace_id: string): Promise<LockedHead | undefined> {
  const result = await client.query<LockedHead>({
    name: 'lock_head',
    // The clock is read after the lock was waited for, so that it never runs backwards within a workspace.
    text: `with head as materialized (
        select seq, hash, time_ms, has_webhooks from ledger_heads where workspace_id = $1 for update)
      select seq, hash, time_ms, has_webhooks,
        (extract(epoch from clock_timestamp()) * 1000)::bigint as clock_ms from head`,
    values: [workspace_id],
  });
  return result.rows[0];
}

/** Moves the locked head on to the batch's last event and moment. */
export function writeHead(
  client: Client,
  workspace_id: string,
  head: LedgerHead & { time_ms: number; has_webhooks: boolean },
): Promise<unknown> {
  return client.query({
    name: 'write_head',
    text: 'update ledger_heads set seq = $2, hash = $3, time_ms = $4, has_webhooks = $5 where workspace_id = $1',
    values: [workspace_id, head.seq, head.hash, head.time_ms, head.has_webhooks],
  });
}

/** Fails on the primary key when the workspace was made at the same moment elsewhere. */
export function insertHead(
  client: Client,
  workspace_id: string,
  head: LedgerHead & { time_ms: number },
): Promise<unknown> {
  return client.query({
    text: 'insert into ledger_heads (workspace_id, seq, hash, time_ms) values ($1, $2, $3, $4)',
    values: [workspace_id, head.seq, head.hash, head.time_ms],
  });
}

/** One workspace, or undefined when there is none of that id. */
export async function loadWorkspace(db: Queryable, workspace_id: string): Promise<Workspace | undefined> {
  const result = await db.query<Workspace & { workspace_id: string }>({
    name: 'load_workspace',
    text: `select ${COLUMNS} from workspaces where workspace_id = $1`,
    values: [workspace_id],
  });
  return result.rows[0];
}

/** Every workspace, oldest first; for the operator. */
export async function listWorkspaces(db: Queryable): Promise<Workspace[]> {
  const result = await db.query<Workspace>({
    text: `select ${COLUMNS} from workspaces order by workspace_id`,
  });
  return result.rows;
}

/** The database's clock, ms. */
export async function readClock(db: Queryable): Promise<number> {
  const result = await db.query<{ clock_ms: number }>({
    name: 'read_clock',
    text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as clock_ms',
  });
  return result.rows[0]?.clock_ms as number;
}

/** Writes a workspace, new or changed. */
export function putWorkspace(client: Client, workspace: Workspace): Promise<unknown> {
  const { workspace_id, name, mode, plan, trial_plan, trial_started_at, trial_ends_at, created_at } =
    workspace;
  return client.query({
    text: `insert into workspaces (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (workspace_id) do update set name = excluded.name, mode = excluded.mode, plan = excluded.plan,
        trial_plan = excluded.trial_plan, trial_started_at = excluded.trial_started_at,
        trial_ends_at = excluded.trial_ends_at`,
    values: [workspace_id, name, mode, plan, trial_plan, trial_started_at, trial_ends_at, created_at],
  });
}
