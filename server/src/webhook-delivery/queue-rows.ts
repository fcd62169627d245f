import type pg from 'pg';
import type { DeliveredEventType, SealedSecret, WebhookAttempt, WebhookStatus } from '../domain/webhooks.ts';
import type { Queryable } from '../storage/database.ts';

/**
 * What the workers do. None of it touches the chain's heads, so that bookkeeping never holds up a decision. Every
 * statement is a transaction of its own, and locks rows of `webhook_queues` in the order of their keys, as the lane
 * does, or skips those in use: no two can wait for each other.
 */

/** Names an endpoint. */
export interface EndpointName {
  workspace_id: string;
  endpoint_id: string;
}

/** A lease that was taken. */
export interface LeasedQueue extends EndpointName {
  failing_since: string | null;
}

/** Leases queues in which something is due, the longest waiting first; those of other workers are left to them. */
export async function leaseQueues(
  db: Queryable,
  lease: { worker: string; now: string; until: string; limit: number },
): Promise<LeasedQueue[]> {
  const result = await db.query<LeasedQueue & pg.QueryResultRow>({
    name: 'lease_queues',
    text: `with due as materialized (
        select workspace_id, endpoint_id from webhook_queues
        where due_at is not null and due_at <= $2 and (leased_until is null or leased_until <= $2)
        order by due_at limit $4 for update skip locked)
      update webhook_queues q set leased_by = $1, leased_until = $3 from due
      where q.workspace_id = due.workspace_id and q.endpoint_id = due.endpoint_id
      returning q.workspace_id, q.endpoint_id, q.failing_since`,
    values: [lease.worker, lease.now, lease.until, lease.limit],
  });
  return result.rows;
}

/** Prolongs leases and notes since when each endpoint fails; gives those that are still this worker's. */
export async function renewLeases(
  db: Queryable,
  worker: string,
  until: string,
  queues: readonly LeasedQueue[],
): Promise<EndpointName[]> {
  const result = await db.query<EndpointName & pg.QueryResultRow>({
    name: 'renew_leases',
    text: `with mine as materialized (
        select q.workspace_id, q.endpoint_id, r.failing_since
        from unnest($3::text[], $4::text[], $5::timestamptz[]) as r(workspace_id, endpoint_id, failing_since)
        join webhook_queues q
          on q.workspace_id = r.workspace_id and q.endpoint_id = r.endpoint_id and q.leased_by = $1
        order by q.workspace_id, q.endpoint_id for update of q)
      update webhook_queues q set leased_until = $2, failing_since = mine.failing_since from mine
      where q.workspace_id = mine.workspace_id and q.endpoint_id = mine.endpoint_id
      returning q.workspace_id, q.endpoint_id`,
    values: [worker, until, ...columns(queues, ['workspace_id', 'endpoint_id', 'failing_since'])],
  });
  return result.rows;
}

/** How far a worker has read a queue, and how much more it can take. */
export interface QueuePosition extends EndpointName {
  after_due_at: string;
  after_event_id: string;
  room: number;
}

/** A queue as it stands, with one delivery that is due, or none. */
export interface LoadedDelivery extends EndpointName {
  puts: number;
  /** Null: the endpoint was deleted. */
  status: WebhookStatus | null;
  url: string;
  secrets: SealedSecret[];
  /** Null: nothing more is due. */
  event_id: string | null;
  due_at: string;
  attempts: number;
  /** Null: the event is kept no longer. */
  type: DeliveredEventType | null;
  payload: string;
}

/**
 * The deliveries that are due and follow each position, at most `room` of each queue, oldest first, with the
 * endpoint as it is at this moment. A queue that is no longer this worker's gives nothing; an active one in which
 * nothing is due gives one row without an event.
 */
export async function loadDeliveries(
  db: Queryable,
  worker: string,
  now: string,
  positions: readonly QueuePosition[],
): Promise<LoadedDelivery[]> {
  const result = await db.query<LoadedDelivery & pg.QueryResultRow>({
    name: 'load_deliveries',
    text: `select r.workspace_id, r.endpoint_id, q.puts, e.status, e.url, e.secrets,
        d.event_id, d.due_at, d.attempts, v.type, v.payload
      from unnest($3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::integer[])
        as r(workspace_id, endpoint_id, after_due_at, after_event_id, room)
      join webhook_queues q
        on q.workspace_id = r.workspace_id and q.endpoint_id = r.endpoint_id and q.leased_by = $1
      left join webhook_endpoints e on e.workspace_id = r.workspace_id and e.endpoint_id = r.endpoint_id
      left join lateral (
        select due_at, event_id, attempts from webhook_deliveries
        where workspace_id = r.workspace_id and endpoint_id = r.endpoint_id and e.status = 'active'
          and (due_at, event_id) > (r.after_due_at, r.after_event_id) and due_at <= $2
        order by due_at, event_id limit r.room) d on true
      left join webhook_events v on v.workspace_id = r.workspace_id and v.event_id = d.event_id
      order by r.workspace_id, r.endpoint_id, d.due_at, d.event_id`,
    values: [
      worker,
      now,
      ...columns(positions, ['workspace_id', 'endpoint_id', 'after_due_at', 'after_event_id', 'room']),
    ],
  });
  return result.rows;
}

/** The result of an attempt, and which delivery it was of. */
export interface AttemptResult extends WebhookAttempt {
  workspace_id: string;
  /** As the delivery was loaded. */
  due_at: string;
}

/**
 * Records results: each attempt is added to the list, and its delivery leaves the queue or becomes due again at
 * `next_attempt_at`. A delivery that is no longer due at `due_at` (another worker recorded a result of it
 * meanwhile, or it was cleared away) is left as it is, and this result with it.
 */
export async function recordAttempts(db: Queryable, results: readonly AttemptResult[]): Promise<void> {
  await db.query({
    name: 'record_attempts',
    text: `with r as materialized (
        select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
          $7::integer[], $8::text[], $9::integer[], $10::text[], $11::integer[], $12::timestamptz[],
          $13::timestamptz[])
        as r(workspace_id, endpoint_id, due_at, event_id, attempt_id, event_type, attempt, status, http_status,
          error, duration_ms, attempted_at, next_attempt_at)),
      gone as (
        delete from webhook_deliveries d using r
        where d.workspace_id = r.workspace_id and d.endpoint_id = r.endpoint_id and d.due_at = r.due_at
          and d.event_id = r.event_id
        returning r.*),
      again as (
        insert into webhook_deliveries (workspace_id, endpoint_id, due_at, event_id, attempts)
        select workspace_id, endpoint_id, next_attempt_at, event_id, attempt from gone
        where next_attempt_at is not null
        on conflict do nothing)
      insert into webhook_attempts (workspace_id, attempt_id, endpoint_id, event_id, event_type, attempt, status,
        http_status, error, duration_ms, attempted_at, next_attempt_at)
      select workspace_id, attempt_id, endpoint_id, event_id, event_type, attempt, status, http_status, error,
        duration_ms, attempted_at, next_attempt_at from gone`,
    values: columns(results, [
      'workspace_id',
      'endpoint_id',
      'due_at',
      'event_id',
      'attempt_id',
      'event_type',
      'attempt',
      'status',
      'http_status',
      'error',
      'duration_ms',
      'attempted_at',
      'next_attempt_at',
    ]),
  });
}

/** What a worker leaves behind of a queue. */
export interface ReleasedQueue extends EndpointName {
  /** As it was when the worker last found nothing more; null: gives the lease back whatever came since. */
  puts: number | null;
  /** Not before this moment; null: as soon as something is due. */
  not_before: string | null;
  failing_since: string | null;
}

/**
 * Gives leases back and sets when each queue is next looked at: when its first delivery is due, never while its
 * endpoint is disabled. One in which something was put meanwhile is kept; those given back are returned.
 */
export async function releaseQueues(
  db: Queryable,
  worker: string,
  queues: readonly ReleasedQueue[],
): Promise<EndpointName[]> {
  const result = await db.query<EndpointName & pg.QueryResultRow>({
    name: 'release_queues',
    text: `with mine as materialized (
        select q.workspace_id, q.endpoint_id, r.not_before, r.failing_since
        from unnest($2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
          as r(workspace_id, endpoint_id, puts, not_before, failing_since)
        join webhook_queues q
          on q.workspace_id = r.workspace_id and q.endpoint_id = r.endpoint_id and q.leased_by = $1
          and (r.puts is null or q.puts = r.puts)
        order by q.workspace_id, q.endpoint_id for update of q)
      update webhook_queues q set leased_by = null, leased_until = null, failing_since = mine.failing_since,
        due_at = (
          select greatest(d.due_at, mine.not_before) from webhook_endpoints e join lateral (
            select due_at from webhook_deliveries
            where workspace_id = e.workspace_id and endpoint_id = e.endpoint_id
            order by due_at limit 1) d on true
          where e.workspace_id = mine.workspace_id and e.endpoint_id = mine.endpoint_id and e.status = 'active')
      from mine where q.workspace_id = mine.workspace_id and q.endpoint_id = mine.endpoint_id
      returning q.workspace_id, q.endpoint_id`,
    values: [
      worker,
      ...columns(queues, ['workspace_id', 'endpoint_id', 'puts', 'not_before', 'failing_since']),
    ],
  });
  return result.rows;
}

const CLEARED_AT_ONCE = 2_000;

/**
 * Clears away what waits for an endpoint that was deleted, a part at a time, and at the end its queue. True: there
 * is more.
 */
export async function clearQueue(db: Queryable, queue: EndpointName): Promise<boolean> {
  const { workspace_id, endpoint_id } = queue;
  const cleared = await db.query({
    name: 'clear_deliveries',
    text: `delete from webhook_deliveries where (workspace_id, endpoint_id, due_at, event_id) in (
        select workspace_id, endpoint_id, due_at, event_id from webhook_deliveries
        where workspace_id = $1 and endpoint_id = $2 order by due_at, event_id limit $3)`,
    values: [workspace_id, endpoint_id, CLEARED_AT_ONCE],
  });
  if (cleared.rowCount === CLEARED_AT_ONCE) return true;
  await db.query({
    name: 'clear_queue',
    text: `delete from webhook_queues where workspace_id = $1 and endpoint_id = $2
      and not exists (select from webhook_endpoints where workspace_id = $1 and endpoint_id = $2)`,
    values: [workspace_id, endpoint_id],
  });
  return false;
}

/** Takes deliveries whose event is kept no longer out of their queues. */
export async function dropDeliveries(
  db: Queryable,
  deliveries: readonly (EndpointName & { due_at: string; event_id: string })[],
): Promise<void> {
  await db.query({
    name: 'drop_deliveries',
    text: `delete from webhook_deliveries d
      using unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
        as r(workspace_id, endpoint_id, due_at, event_id)
      where d.workspace_id = r.workspace_id and d.endpoint_id = r.endpoint_id and d.due_at = r.due_at
        and d.event_id = r.event_id`,
    values: columns(deliveries, ['workspace_id', 'endpoint_id', 'due_at', 'event_id']),
  });
}

/** The rows column by column, as `unnest` takes them. */
function columns<Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[] {
  return names.map((name) => rows.map((row) => row[name]));
}
