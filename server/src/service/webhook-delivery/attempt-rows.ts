import type { WebhookAttempt } from '@purser/rules/domain/webhooks';
import { firstIdAt } from '@purser/rules/values/ids';
import type { Queryable } from '../../engine/storage/database.ts';

const COLUMNS = `attempt_id, endpoint_id, event_id, event_type, attempt, status, http_status, error, duration_ms,
  attempted_at, next_attempt_at`;

/** The filters of a list of attempts, all of which must match. */
export interface AttemptFilters {
  endpoint?: string;
  event?: readonly string[];
  type?: readonly string[];
  status?: readonly string[];
  /** Inclusive, ISO 8601 UTC. */
  from?: string;
  /** Exclusive, ISO 8601 UTC. */
  to?: string;
}

/** Loads a page of attempts older than `after`, newest first. */
export async function listWebhookAttempts(
  db: Queryable,
  workspace_id: string,
  filters: AttemptFilters,
  page: { after: string | null; limit: number },
): Promise<WebhookAttempt[]> {
  const conditions = ['workspace_id = $1'];
  const values: unknown[] = [workspace_id];
  const narrow = (condition: (parameter: string) => string, value: unknown) => {
    if (value === undefined || value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  narrow((p) => `endpoint_id = ${p} and endpoint_id <> ''`, filters.endpoint);
  narrow((p) => `event_id = any(${p}::text[]) and event_id <> ''`, filters.event);
  narrow((p) => `event_type = any(${p}::text[])`, filters.type);
  narrow((p) => `status = any(${p}::text[])`, filters.status);
  // The planner takes the index of attempts that were not received only where it is told so.
  if (filters.status?.includes('SUCCEEDED') === false) conditions.push(`status <> 'SUCCEEDED'`);
  // Ids begin with the time of their attempt.
  narrow((p) => `attempt_id >= ${p}`, filters.from && firstIdAt('delivery', Date.parse(filters.from)));
  narrow((p) => `attempt_id < ${p}`, filters.to && firstIdAt('delivery', Date.parse(filters.to)));
  narrow((p) => `attempt_id < ${p}`, page.after);
  values.push(page.limit);
  const result = await db.query<WebhookAttempt & { workspace_id: string }>({
    text: `select ${COLUMNS} from webhook_attempts where ${conditions.join(' and ')}
      order by attempt_id desc limit $${values.length}`,
    values,
  });
  return result.rows;
}

/** Returns one attempt; undefined if there is none, or it is no longer kept. */
export async function getWebhookAttempt(
  db: Queryable,
  workspace_id: string,
  attempt_id: string,
): Promise<WebhookAttempt | undefined> {
  const result = await db.query<WebhookAttempt & { workspace_id: string }>({
    name: 'get_webhook_attempt',
    text: `select ${COLUMNS} from webhook_attempts where workspace_id = $1 and attempt_id = $2`,
    values: [workspace_id, attempt_id],
  });
  return result.rows[0];
}

/** The most rows that one statement removes, of all workspaces together, because a statement has 5 s. */
const PRUNED_AT_ONCE = 5_000;

/**
 * Removes attempts, events, notices and waiting deliveries from before `cutoff_ms`, at most `at_once` of each. Returns the
 * number removed, which is 0 if nothing is left to do. Ids begin with their time, so old rows are at the beginning of
 * the primary key.
 */
export async function pruneWebhooks(
  db: Queryable,
  cutoff_ms: number,
  at_once: number = PRUNED_AT_ONCE,
): Promise<number> {
  const cutoff = new Date(cutoff_ms).toISOString();
  const attempts = await db.query({
    name: 'prune_webhook_attempts',
    text: `delete from webhook_attempts where (workspace_id, attempt_id) in (
      select w.workspace_id, o.attempt_id from ledger_heads w cross join lateral (
        select a.attempt_id from webhook_attempts a
        where a.workspace_id = w.workspace_id and a.attempt_id < $1 order by a.attempt_id limit $2) o limit $2)`,
    values: [firstIdAt('delivery', cutoff_ms), at_once],
  });
  const deliveries = await db.query({
    name: 'prune_webhook_deliveries',
    text: `delete from webhook_deliveries where (workspace_id, endpoint_id, due_at, event_id) in (
      select q.workspace_id, q.endpoint_id, o.due_at, o.event_id from webhook_queues q cross join lateral (
        select d.due_at, d.event_id from webhook_deliveries d
        where d.workspace_id = q.workspace_id and d.endpoint_id = q.endpoint_id and d.due_at < $1
        order by d.due_at limit $2) o limit $2)`,
    values: [cutoff, at_once],
  });
  const events = await db.query({
    name: 'prune_webhook_events',
    text: `delete from webhook_events where (workspace_id, event_id) in (
      select w.workspace_id, o.event_id from ledger_heads w cross join lateral (
        select v.event_id from webhook_events v
        where v.workspace_id = w.workspace_id and v.event_id < $1 order by v.event_id limit $2) o limit $2)`,
    values: [firstIdAt('event', cutoff_ms), at_once],
  });
  const notices = await db.query({
    name: 'prune_notices',
    text: `delete from notices where (workspace_id, notice_id) in (
      select w.workspace_id, o.notice_id from ledger_heads w cross join lateral (
        select n.notice_id from notices n
        where n.workspace_id = w.workspace_id and n.notice_id < $1 order by n.notice_id limit $2) o limit $2)`,
    values: [firstIdAt('notice', cutoff_ms), at_once],
  });
  return (
    (attempts.rowCount ?? 0) + (deliveries.rowCount ?? 0) + (events.rowCount ?? 0) + (notices.rowCount ?? 0)
  );
}
