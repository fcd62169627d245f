import type { ChannelFilter } from '@purser/contract/routes/notices/channels';
import type { DeliveredEventType } from '@purser/contract/values/webhooks';
import type { SealedSecret, WebhookAttempt, WebhookStatus } from '@purser/rules/domain/webhooks';
import { CLOCK_TOLERANCE_MS } from '@purser/rules/values/clock-tolerance';
import type pg from 'pg';
import { findEverywhere } from '../../engine/citus/find-everywhere.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { ReceiverKind } from './sender.ts';

/**
 * The statements of the workers. None of them locks a head of a chain, so they never delay a decision. Each is a
 * transaction of its own. It locks rows of `webhook_queues` in the order of their keys, as the lane does, or skips
 * locked rows, so no two transactions can wait for each other.
 */

/** The key of an endpoint. */
export interface EndpointName {
  workspace_id: string;
  endpoint_id: string;
}

/** A lease that was taken. */
export interface LeasedQueue extends EndpointName {
  failing_since: string | null;
}

/**
 * Leases queues in which a delivery is due, the longest waiting first, unless another worker has leased them. A lease that ends
 * later than one from now, by more than clocks may be apart, was written at a wrong time and counts for nothing.
 */
export async function leaseQueues(
  db: Queryable,
  lease: { worker: string; now: string; until: string; limit: number },
): Promise<LeasedQueue[]> {
  // What is due is found without a lock, since a lock over all workspaces would wait for each node that holds some.
  const due = await findEverywhere<EndpointName & { due_at: string }>(db, {
    name: 'find_due_queues',
    text: `select q.workspace_id, q.endpoint_id, q.due_at from webhook_queues q where ${isDue('$1', '$2')}
      order by q.due_at limit $3`,
    values: [lease.now, lease.until, lease.limit],
    limit: lease.limit,
    order: (a, b) => Date.parse(a.due_at) - Date.parse(b.due_at),
    read: (row) => row,
  });
  if (due.length === 0) return [];
  const result = await db.query<LeasedQueue & pg.QueryResultRow>({
    name: 'lease_queues',
    leaves_out_lost: true,
    text: `with due as materialized (
        select q.workspace_id, q.endpoint_id
        from unnest($1::text[], $2::text[]) as w(workspace_id, endpoint_id)
        join webhook_queues q on q.workspace_id = w.workspace_id and q.endpoint_id = w.endpoint_id
        where ${isDue('$4', '$5')} order by q.workspace_id, q.endpoint_id for update of q skip locked)
      update webhook_queues q set leased_by = $3, leased_until = $5 from due
      where q.workspace_id = due.workspace_id and q.endpoint_id = due.endpoint_id
      returning q.workspace_id, q.endpoint_id, q.failing_since`,
    values: [...columns(due, ['workspace_id', 'endpoint_id']), lease.worker, lease.now, lease.until],
  });
  return result.rows;
}

/** True for a queue `q` in which a delivery is due at `now` and that no other worker has leased. */
const isDue = (now: string, until: string) => `q.due_at is not null and q.due_at <= ${now}
  and (q.not_before is null or q.not_before <= ${now})
  and (q.leased_until is null or q.leased_until <= ${now}
    or q.leased_until > ${until}::timestamptz + interval '${CLOCK_TOLERANCE_MS} milliseconds')`;

/** Extends leases and records since when each endpoint fails. Returns the leases that this worker still holds. */
export async function renewLeases(
  db: Queryable,
  worker: string,
  until: string,
  queues: readonly LeasedQueue[],
): Promise<EndpointName[]> {
  const result = await db.query<EndpointName & pg.QueryResultRow>({
    name: 'renew_leases',
    leaves_out_lost: true,
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

/** The position of a worker in a queue, and the number of deliveries that it can take. */
export interface QueuePosition extends EndpointName {
  after_due_at: string;
  after_event_id: string;
  room: number;
}

/**
 * The receiver whose id is `id`: an endpoint for webhooks, a channel, or the member with this e-mail. No row where there is
 * none. A member's `settings` is their e-mail.
 */
const receiverOf = (workspace_id: string, id: string, email: string) => `(
  select 'endpoint' as receiver, status, url, secrets, null as settings, null::json as filter, true as show_claims
  from webhook_endpoints where workspace_id = ${workspace_id} and endpoint_id = ${id}
  union all
  select type, status, null, null, sealed_settings, filter, show_claims
  from channels where workspace_id = ${workspace_id} and channel_id = ${id}
  union all
  select 'person', 'active', null, null, ${email}, null, true where ${email} is not null)`;

/** Returns for each queue the e-mail of its receiver; null where that is no member who can sign in. */
async function emailsOf(db: Queryable, queues: readonly EndpointName[]): Promise<(string | null)[]> {
  const people = queues.filter(({ endpoint_id }) => endpoint_id.startsWith('usr_'));
  if (people.length === 0) return queues.map(() => null);
  const found = await db.query<{ workspace_id: string; user_id: string; email: string }>({
    name: 'load_emails_of_receivers',
    text: `select m.workspace_id, m.user_id, u.email from unnest($1::text[], $2::text[]) as w(workspace_id, user_id)
      join members m on m.workspace_id = w.workspace_id and m.user_id = w.user_id
      join users u on u.user_id = m.user_id where m.removed_at is null and u.disabled_at is null`,
    values: columns(people, ['workspace_id', 'endpoint_id']),
  });
  const emails = new Map(found.rows.map((row) => [`${row.workspace_id} ${row.user_id}`, row.email]));
  return queues.map(({ workspace_id, endpoint_id }) => emails.get(`${workspace_id} ${endpoint_id}`) ?? null);
}

/** The state of a queue, with one due delivery or none. */
export interface LoadedDelivery extends EndpointName {
  puts: number;
  /** Null if the receiver was deleted. */
  status: WebhookStatus | null;
  receiver: ReceiverKind;
  /** The URL of an endpoint. */
  url: string;
  secrets: SealedSecret[];
  /** The settings of a channel, encrypted, or the e-mail of a person. */
  settings: string;
  filter: ChannelFilter | null;
  show_claims: boolean;
  /** Null if nothing more is due. */
  event_id: string | null;
  due_at: string;
  attempts: number;
  /** The type of an event; null if it was removed, and for a notice. */
  type: DeliveredEventType | null;
  payload: string;
}

/**
 * Loads the due deliveries after each position, at most `room` of each queue, oldest first, with the current state of
 * the endpoint. A queue that this worker no longer holds has no row. A queue in which nothing is due has one row
 * without an event.
 */
export async function loadDeliveries(
  db: Queryable,
  worker: string,
  now: string,
  positions: readonly QueuePosition[],
): Promise<LoadedDelivery[]> {
  const result = await db.query<LoadedDelivery & pg.QueryResultRow>({
    name: 'load_deliveries',
    leaves_out_lost: true,
    text: `select r.workspace_id, r.endpoint_id, q.puts, e.status, e.receiver, e.url, e.secrets, e.settings,
        e.filter, e.show_claims, d.event_id, d.due_at, d.attempts, v.type, v.payload
      from unnest($3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::integer[], $8::text[])
        as r(workspace_id, endpoint_id, after_due_at, after_event_id, room, email)
      join webhook_queues q
        on q.workspace_id = r.workspace_id and q.endpoint_id = r.endpoint_id and q.leased_by = $1
      left join lateral ${receiverOf('r.workspace_id', 'r.endpoint_id', 'r.email')} as e on true
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
      await emailsOf(db, positions),
    ],
  });
  return result.rows;
}

/** The result of an attempt and its delivery. */
export interface AttemptResult extends WebhookAttempt {
  workspace_id: string;
  /** The value with which the delivery was loaded. */
  due_at: string;
}

/**
 * Records results. Each attempt is added to the list, and its delivery is removed from the queue or becomes due again
 * at `next_attempt_at`. If a delivery is no longer due at `due_at`, because another worker has recorded a result for it
 * or it was removed, it is left unchanged and this result is dropped.
 */
export async function recordAttempts(db: Queryable, results: readonly AttemptResult[]): Promise<void> {
  await db.query({
    name: 'record_attempts',
    leaves_out_lost: true,
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

/** The state in which a worker releases a queue. */
export interface ReleasedQueue extends EndpointName {
  /** The version at which the worker last found nothing due. Null releases the lease whatever was added since. */
  puts: number | null;
  /** The earliest time of the next look. Null: as soon as a delivery is due. */
  not_before: string | null;
  failing_since: string | null;
}

/**
 * Releases leases and sets when each queue is looked at next: when its first delivery is due, or never while its
 * endpoint is disabled. A queue to which a delivery was added meanwhile is kept. Returns the queues that were released.
 */
export async function releaseQueues(
  db: Queryable,
  worker: string,
  queues: readonly ReleasedQueue[],
): Promise<EndpointName[]> {
  const result = await db.query<EndpointName & pg.QueryResultRow>({
    name: 'release_queues',
    leaves_out_lost: true,
    text: `with mine as materialized (
        select q.workspace_id, q.endpoint_id, r.not_before, r.failing_since, r.email
        from unnest($2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::text[])
          as r(workspace_id, endpoint_id, puts, not_before, failing_since, email)
        join webhook_queues q
          on q.workspace_id = r.workspace_id and q.endpoint_id = r.endpoint_id and q.leased_by = $1
          and (r.puts is null or q.puts = r.puts)
        order by q.workspace_id, q.endpoint_id for update of q)
      update webhook_queues q set leased_by = null, leased_until = null, failing_since = mine.failing_since,
        not_before = mine.not_before,
        due_at = (
          select greatest(d.due_at, mine.not_before)
          from ${receiverOf('mine.workspace_id', 'mine.endpoint_id', 'mine.email')} as e join lateral (
            select due_at from webhook_deliveries
            where workspace_id = mine.workspace_id and endpoint_id = mine.endpoint_id
            order by due_at limit 1) d on true
          where e.status = 'active')
      from mine where q.workspace_id = mine.workspace_id and q.endpoint_id = mine.endpoint_id
      returning q.workspace_id, q.endpoint_id`,
    values: [
      worker,
      ...columns(queues, ['workspace_id', 'endpoint_id', 'puts', 'not_before', 'failing_since']),
      await emailsOf(db, queues),
    ],
  });
  return result.rows;
}

const CLEARED_AT_ONCE = 2_000;

/**
 * Removes a part of the deliveries that wait for a deleted receiver, and its queue once none is left. Their notices become
 * OBSOLETE. Returns whether there are more.
 */
export async function clearQueue(db: Queryable, queue: EndpointName): Promise<boolean> {
  const { workspace_id, endpoint_id } = queue;
  const cleared = await db.query<{ count: number }>({
    name: 'clear_deliveries',
    text: `with cleared as (
        delete from webhook_deliveries where workspace_id = $1 and endpoint_id = $2 and (due_at, event_id) in (
          select due_at, event_id from webhook_deliveries
          where workspace_id = $1 and endpoint_id = $2 order by due_at, event_id limit $3)
        returning event_id),
      ended as (
        update notices n set status = 'OBSOLETE' from cleared
        where n.workspace_id = $1 and n.notice_id = cleared.event_id and n.status in ('SCHEDULED', 'RETRYING'))
      select count(*) as count from cleared`,
    values: [workspace_id, endpoint_id, CLEARED_AT_ONCE],
  });
  if (cleared.rows[0]?.count === CLEARED_AT_ONCE) return true;
  await db.query({
    name: 'clear_queue',
    text: `delete from webhook_queues where workspace_id = $1 and endpoint_id = $2
      and not exists (select from ${receiverOf('$1', '$2', '$3::text')} as e)`,
    values: [workspace_id, endpoint_id, ...(await emailsOf(db, [queue]))],
  });
  return false;
}

/** Removes deliveries that are not to be made any more from their queues. */
export async function dropDeliveries(
  db: Queryable,
  deliveries: readonly (EndpointName & { due_at: string; event_id: string })[],
): Promise<void> {
  await db.query({
    name: 'drop_deliveries',
    leaves_out_lost: true,
    text: `delete from webhook_deliveries d
      using unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[])
        as r(workspace_id, endpoint_id, due_at, event_id)
      where d.workspace_id = r.workspace_id and d.endpoint_id = r.endpoint_id and d.due_at = r.due_at
        and d.event_id = r.event_id`,
    values: columns(deliveries, ['workspace_id', 'endpoint_id', 'due_at', 'event_id']),
  });
}

/** Returns the rows as arrays of columns, as `unnest` needs them. */
export function columns<Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** Forgets since when endpoints have failed. */
export async function forgetFailures(db: Queryable): Promise<void> {
  const text =
    "update webhook_queues set failing_since = null where workspace_id <> '' and failing_since is not null";
  await db.query({ text });
}
