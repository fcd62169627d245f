import type { LedgerHead } from '@purser/rules/domain/ledger';
import type { Workspace } from '@purser/rules/domain/workspace';
import { findEverywhere } from '../citus/find-everywhere.ts';
import type { Client, Queryable } from './database.ts';
import { type InWorkspace, makeInsert, msOf, sendCounted } from './rows.ts';

const COLUMNS =
  'workspace_id, name, mode, plan, trial_plan, trial_started_at, trial_ends_at, separation_of_duties, time_zone, sample, coverage, created_at';

/** The head of a chain that the lane has locked, with the database's clock read under the lock. */
export interface LockedHead extends LedgerHead {
  workspace_id: string;
  /** The timestamp of the workspace's last batch, ms. */
  time_ms: number;
  /** True if the workspace has webhook endpoints, disabled ones included. */
  has_webhooks: boolean;
  /** True if the workspace has channels, disabled ones included. */
  has_channels: boolean;
  /** RFC 8785 text of the stop of all agents; null while they may spend. */
  stop: string | null;
  /** The database's clock, ms. */
  clock_ms: number;
}

/**
 * Locks the heads of these workspaces until the transaction ends. Unknown workspaces are left out. With `wait` false,
 * heads that another transaction has locked are left out too, so that no workspace waits for another.
 */
export async function lockHeads(
  client: Client,
  workspace_ids: readonly string[],
  options: { wait: boolean },
): Promise<LockedHead[]> {
  const result = await client.query<LockedHead>({
    name: options.wait ? 'lock_heads' : 'lock_free_heads',
    // The clock is read after the locks were acquired, so that it never runs backwards within a workspace.
    text: `with heads as materialized (
        select workspace_id, seq, hash, time_ms, has_webhooks, has_channels, stop from ledger_heads where workspace_id = any($1)
        order by workspace_id for update${options.wait ? '' : ' skip locked'})
      select workspace_id, seq, hash, time_ms, has_webhooks, has_channels, stop,
        ${msOf('clock_timestamp()')} as clock_ms from heads`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** The head that a batch writes. */
type WrittenHead = LedgerHead & Pick<LockedHead, 'time_ms' | 'has_webhooks' | 'has_channels' | 'stop'>;

/** Updates locked heads to the last event and the timestamp of their batch. */
export function writeHeads(client: Client, heads: readonly InWorkspace<WrittenHead>[]): Promise<unknown> {
  return sendCounted(client, {
    name: 'write_heads',
    writes: heads.length,
    text: `update ledger_heads h set seq = r.seq, hash = r.hash, time_ms = r.time_ms, has_webhooks = r.has_webhooks,
        has_channels = r.has_channels, stop = r.stop
      from unnest($1::text[], $2::bigint[], $3::bytea[], $4::bigint[], $5::boolean[], $6::boolean[], $7::text[])
        as r(workspace_id, seq, hash, time_ms, has_webhooks, has_channels, stop)
      where h.workspace_id = r.workspace_id`,
    values: [
      heads.map((head) => head.workspace_id),
      heads.map((head) => head.seq),
      heads.map((head) => head.hash),
      heads.map((head) => head.time_ms),
      heads.map((head) => head.has_webhooks),
      heads.map((head) => head.has_channels),
      heads.map((head) => head.stop),
    ],
  });
}

/** Inserts the head of a new workspace. Fails on the primary key if the workspace was created concurrently. */
export function insertHead(client: Client, head: InWorkspace<WrittenHead>): Promise<unknown> {
  return sendCounted(client, {
    name: 'insert_head',
    writes: 1,
    text: 'insert into ledger_heads (workspace_id, seq, hash, time_ms, has_webhooks) values ($1, $2, $3, $4, $5)',
    values: [head.workspace_id, head.seq, head.hash, head.time_ms, head.has_webhooks],
  });
}

/** Returns these workspaces; unknown ones are left out. */
export async function loadWorkspaces(db: Queryable, workspace_ids: readonly string[]): Promise<Workspace[]> {
  const result = await db.query<Workspace>({
    name: 'load_workspaces',
    text: `select ${COLUMNS} from workspaces where workspace_id = any($1)`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns one workspace, or undefined if it does not exist. */
export async function loadWorkspace(db: Queryable, workspace_id: string): Promise<Workspace | undefined> {
  const result = await db.query<Workspace & { workspace_id: string }>({
    name: 'load_workspace',
    text: `select ${COLUMNS} from workspaces where workspace_id = $1`,
    values: [workspace_id],
  });
  return result.rows[0];
}

/** Returns all workspaces, oldest first. Only the operator's commands may call this. */
export async function listWorkspaces(db: Queryable): Promise<Workspace[]> {
  const result = await db.query<Workspace>({
    text: `select ${COLUMNS} from workspaces order by workspace_id`,
  });
  return result.rows;
}

/** Reads the database's clock, ms. */
export async function readClock(db: Queryable): Promise<number> {
  const result = await db.query<{ clock_ms: number }>({
    name: 'read_clock',
    text: `select ${msOf('clock_timestamp()')} as clock_ms`,
  });
  return result.rows[0]?.clock_ms as number;
}

/** The database's clock with what else is known of its time. */
export interface ClockEvidence {
  /** The database's clock, ms. */
  clock_ms: number;
  /** The time of the newest batch of any workspace, ms; null where there is none. */
  newest_ms: number | null;
  /** When an operator last confirmed the clock, by that clock, ms. */
  confirmed_ms: number | null;
}

/** Reads the database's clock with the newest batch and the operator's last confirmation. */
export async function readClockEvidence(db: Queryable): Promise<ClockEvidence> {
  const [newest] = await findEverywhere<Pick<ClockEvidence, 'newest_ms'>>(db, {
    name: 'find_newest_batch',
    text: "select max(h.time_ms) as newest_ms from ledger_heads h where h.workspace_id <> ''",
    values: [],
    limit: 1,
    order: (a, b) => (b.newest_ms ?? 0) - (a.newest_ms ?? 0),
    read: (row) => row,
  });
  const result = await db.query<Omit<ClockEvidence, 'newest_ms'>>({
    name: 'read_clock_evidence',
    text: `select ${msOf('clock_timestamp()')} as clock_ms,
        (select ${msOf('clock_confirmed_at')} from installation) as confirmed_ms`,
  });
  const read = result.rows[0] as Omit<ClockEvidence, 'newest_ms'>;
  return { ...read, newest_ms: newest?.newest_ms ?? null };
}

/** Notes that an operator confirms the database's clock. Returns the evidence of before, with the clock as confirmed. */
export async function confirmClock(db: Queryable): Promise<ClockEvidence> {
  const before = await readClockEvidence(db);
  const result = await db.query({ text: 'update installation set clock_confirmed_at = clock_timestamp()' });
  if (result.rowCount !== 1) throw new Error('the database has no installation to confirm the clock of');
  return before;
}

/** Inserts new workspaces and updates existing ones. */
export const putWorkspaces = makeInsert<Omit<Workspace, 'workspace_id'>>(
  'workspaces',
  {
    name: 'text',
    mode: 'text',
    plan: 'text',
    trial_plan: 'text',
    trial_started_at: 'timestamptz',
    trial_ends_at: 'timestamptz',
    separation_of_duties: 'text',
    time_zone: 'text',
    sample: 'boolean',
    coverage: 'text',
    created_at: 'timestamptz',
  },
  {
    conflict: [],
    update: [
      'name',
      'mode',
      'plan',
      'trial_plan',
      'trial_started_at',
      'trial_ends_at',
      'separation_of_duties',
      'time_zone',
      'coverage',
    ],
  },
);
