import type { DeliveredEventType } from '@purser/contract/values/webhooks';
import type { WebhookDelivery, WebhookEndpoint, WebhookEvent } from '@purser/rules/domain/webhooks';
import type { Client, Queryable } from './database.ts';
import { type InWorkspace, makeInsert, mapParts, sendCounted, type WorkspaceRows } from './rows.ts';

const COLUMNS =
  'endpoint_id, url, events, status, disabled_reason, secrets, secret_rotated_at, created_at, updated_at';

/** Returns all endpoints of the workspace, disabled ones included, oldest first. At most `MAX_WEBHOOKS` exist. */
export async function loadWebhookEndpoints(db: Queryable, workspace_id: string): Promise<WebhookEndpoint[]> {
  const result = await db.query<WebhookEndpoint & { workspace_id: string }>({
    name: 'load_webhook_endpoints',
    text: `select ${COLUMNS} from webhook_endpoints where workspace_id = $1 order by endpoint_id`,
    values: [workspace_id],
  });
  return result.rows;
}

/** Returns all endpoints of these workspaces, disabled ones included, oldest first within each workspace. */
export async function loadEndpointsOf(
  db: Queryable,
  workspace_ids: readonly string[],
): Promise<InWorkspace<WebhookEndpoint>[]> {
  const result = await db.query<InWorkspace<WebhookEndpoint>>({
    name: 'load_endpoints_of',
    text: `select e.* from unnest($1::text[]) as w(workspace_id)
      cross join lateral (
        select workspace_id, ${COLUMNS} from webhook_endpoints where workspace_id = w.workspace_id
        order by endpoint_id) as e`,
    values: [workspace_ids],
  });
  return result.rows;
}

/** Returns one endpoint with the start of an unbroken series of failures; undefined if there is none. */
export async function getWebhookEndpoint(
  db: Queryable,
  workspace_id: string,
  endpoint_id: string,
): Promise<(WebhookEndpoint & { failing_since: string | null }) | undefined> {
  const found = (await loadWebhookEndpoints(db, workspace_id)).find(
    (each) => each.endpoint_id === endpoint_id,
  );
  if (found === undefined) return undefined;
  const result = await db.query<{ failing_since: string | null }>({
    name: 'get_failing_since',
    text: 'select failing_since from webhook_queues where workspace_id = $1 and endpoint_id = $2',
    values: [workspace_id, endpoint_id],
  });
  return { ...found, failing_since: result.rows[0]?.failing_since ?? null };
}

/** Returns the bytes of a stored event as they are delivered; undefined if there is none. */
export async function getWebhookPayload(
  db: Queryable,
  workspace_id: string,
  event_id: string,
): Promise<string | undefined> {
  const result = await db.query<{ payload: string }>({
    name: 'get_webhook_payload',
    text: 'select payload from webhook_events where workspace_id = $1 and event_id = $2',
    values: [workspace_id, event_id],
  });
  return result.rows[0]?.payload;
}

/** Returns a page of endpoints, newest first; `failing_since` is the start of an unbroken series of failures. */
export async function listWebhookEndpoints(
  db: Queryable,
  workspace_id: string,
  page: { after: string | null; limit: number },
): Promise<(WebhookEndpoint & { failing_since: string | null })[]> {
  const columns = COLUMNS.split(', ')
    .map((column) => `e.${column}`)
    .join(', ');
  const result = await db.query<WebhookEndpoint & { workspace_id: string; failing_since: string | null }>({
    name: 'list_webhook_endpoints',
    text: `select ${columns}, q.failing_since from webhook_endpoints e
      left join webhook_queues q on q.workspace_id = $1 and q.endpoint_id = e.endpoint_id
      where e.workspace_id = $1 and ($2::text is null or e.endpoint_id < $2)
      order by e.endpoint_id desc limit $3`,
    values: [workspace_id, page.after, page.limit],
  });
  return result.rows;
}

/** Counts the endpoints of all workspaces that the service disabled because every delivery failed for days. */
export async function countDisabledEndpoints(db: Queryable): Promise<number> {
  const result = await db.query<{ count: number }>({
    name: 'count_disabled_endpoints',
    text: `select count(workspace_id) as count from webhook_endpoints where disabled_reason = 'ONLY_FAILURES'`,
  });
  return result.rows[0]?.count ?? 0;
}

const put = makeInsert<
  Omit<WebhookEndpoint, 'secrets' | 'events'> & { secrets: string; events: readonly string[] }
>(
  'webhook_endpoints',
  {
    endpoint_id: 'text',
    url: 'text',
    events: 'words',
    status: 'text',
    disabled_reason: 'text',
    secrets: 'json',
    secret_rotated_at: 'timestamptz',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  {
    conflict: ['endpoint_id'],
    update: ['url', 'events', 'status', 'disabled_reason', 'secrets', 'secret_rotated_at', 'updated_at'],
  },
);

/** Inserts new endpoints and updates existing ones. */
export function putWebhookEndpoints(
  client: Client,
  parts: readonly WorkspaceRows<WebhookEndpoint>[],
): Promise<unknown> {
  return put(
    client,
    mapParts(parts, (endpoint) => ({ ...endpoint, secrets: JSON.stringify(endpoint.secrets) })),
  );
}

/** Deletes endpoints and their secrets. The worker removes their pending deliveries. */
export function deleteWebhookEndpoints(
  client: Client,
  parts: readonly WorkspaceRows<string>[],
): Promise<unknown> {
  const endpoints = parts.flatMap(({ workspace_id, rows }) =>
    rows.map((endpoint_id) => ({ workspace_id, endpoint_id })),
  );
  return client.query({
    name: 'delete_webhook_endpoints',
    text: `delete from webhook_endpoints e using unnest($1::text[], $2::text[]) as r(workspace_id, endpoint_id)
      where e.workspace_id = r.workspace_id and e.endpoint_id = r.endpoint_id`,
    values: [endpoints.map((each) => each.workspace_id), endpoints.map((each) => each.endpoint_id)],
  });
}

export const insertWebhookEvents = makeInsert<WebhookEvent>('webhook_events', {
  event_id: 'text',
  type: 'text',
  payload: 'document',
  created_at: 'timestamptz',
});

/** Inserts deliveries. A replay replaces a retry that is due in the same millisecond. */
export const insertWebhookDeliveries = makeInsert<WebhookDelivery>(
  'webhook_deliveries',
  { endpoint_id: 'text', due_at: 'timestamptz', event_id: 'text', attempts: 'integer' },
  { conflict: ['endpoint_id', 'due_at', 'event_id'], update: ['attempts'] },
);

/** A change that the lane makes to an endpoint's queue. */
export interface QueueChange {
  endpoint_id: string;
  /** The queue is due at this time at the latest; null: it is not due, and its failures are reset. */
  due_at: string | null;
}

/**
 * Inserts or updates queues, and raises their version (the column `puts`). A worker that is about to
 * release its lease sees the new version and looks at the queue again: the two updates lock the same row.
 */
export function putWebhookQueues(
  client: Client,
  parts: readonly WorkspaceRows<QueueChange>[],
): Promise<unknown> {
  const changes = parts.flatMap(({ workspace_id, rows }) => rows.map((row) => ({ workspace_id, ...row })));
  return sendCounted(client, {
    name: 'put_webhook_queues',
    writes: changes.length,
    mostly_there: true,
    text: `insert into webhook_queues as q (workspace_id, endpoint_id, due_at, puts, failing_since)
      select r.workspace_id, r.endpoint_id, r.due_at, 1, null
      from unnest($1::text[], $2::text[], $3::timestamptz[]) as r(workspace_id, endpoint_id, due_at)
      on conflict (workspace_id, endpoint_id) do update set
        due_at = case when excluded.due_at is null then null else least(q.due_at, excluded.due_at) end,
        failing_since = case when excluded.due_at is null then null else q.failing_since end,
        puts = q.puts + 1`,
    values: [
      changes.map((each) => each.workspace_id),
      changes.map((each) => each.endpoint_id),
      changes.map((each) => each.due_at),
    ],
  });
}

/** Returns stored events of these types after one of them (or from the first), oldest first, in the bytes that are delivered. */
export async function listWebhookEvents(
  db: Queryable,
  workspace_id: string,
  page: { after: string; types: readonly string[]; limit: number },
): Promise<Pick<WebhookEvent, 'event_id' | 'payload'>[]> {
  const result = await db.query<Pick<WebhookEvent, 'event_id' | 'payload'> & { workspace_id: string }>({
    name: 'list_webhook_events',
    text: `select event_id, payload from webhook_events where workspace_id = $1 and event_id > $2 and type = any($3)
      order by event_id limit $4`,
    values: [workspace_id, page.after, page.types, page.limit],
  });
  return result.rows;
}

/** Returns the events from `first_id` (inclusive) to `end_id` (exclusive) of these types, oldest first. */
export async function findWebhookEvents(
  db: Queryable,
  workspace_id: string,
  range: { first_id: string; end_id: string; types: readonly string[]; limit: number },
): Promise<{ event_id: string; type: DeliveredEventType; created_at: string }[]> {
  const result = await db.query<{
    workspace_id: string;
    event_id: string;
    type: DeliveredEventType;
    created_at: string;
  }>({
    name: 'find_webhook_events',
    text: `select event_id, type, created_at from webhook_events
      where workspace_id = $1 and event_id >= $2 and event_id < $3 and type = any($4)
      order by event_id limit $5`,
    values: [workspace_id, range.first_id, range.end_id, range.types, range.limit],
  });
  return result.rows;
}
