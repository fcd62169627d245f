-- Read with the lock of the head, so that a workspace without endpoints pays no statement to learn that it has none.
alter table ledger_heads add column has_webhooks boolean not null default false;

-- Where events go. A deleted endpoint's row is removed, its secrets with it; the audit list remembers the rest.
create table webhook_endpoints (
  workspace_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  url text not null,
  -- Event types, or the one element "*": all there are.
  events text[] not null,
  status text not null,
  disabled_reason text,
  -- Newest first: [{ sealed, expires_at }], encrypted by a key that is not in the database.
  secrets json not null,
  secret_rotated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, endpoint_id)
);

-- The bytes that every delivery of an event carries, fixed in the transaction of the change itself.
create table webhook_events (
  workspace_id text collate "C" not null,
  event_id text collate "C" not null,
  type text not null,
  payload text not null,
  created_at timestamptz not null,
  primary key (workspace_id, event_id)
);
alter table webhook_events set (toast_tuple_target = 8160);

-- What is still to be sent, in the order in which it is due. A row leaves when its event was received or its last
-- attempt failed. `due_at` is part of the key, so that a result counts only for the very attempt it is of.
create table webhook_deliveries (
  workspace_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  due_at timestamptz not null,
  event_id text collate "C" not null,
  attempts integer not null,
  primary key (workspace_id, endpoint_id, due_at, event_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

-- One row an endpoint: when its next delivery is due, and which worker sends them. Working on whole endpoints is
-- what keeps them apart: a lease is one small update however many deliveries wait, and a slow one delays no other.
create table webhook_queues (
  workspace_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  -- Null: nothing waits, or the endpoint is disabled.
  due_at timestamptz,
  -- Counts what was put in, so that a worker which found nothing more cannot miss what came meanwhile.
  puts bigint not null,
  leased_by text,
  leased_until timestamptz,
  -- The first failure after which nothing succeeded.
  failing_since timestamptz,
  primary key (workspace_id, endpoint_id)
) with (fillfactor = 50);
create index webhook_queues_due on webhook_queues (due_at) where due_at is not null;

-- Every attempt that was made, with its result.
create table webhook_attempts (
  workspace_id text collate "C" not null,
  attempt_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  attempt integer not null,
  status text not null,
  http_status integer,
  error text,
  duration_ms integer not null,
  attempted_at timestamptz not null,
  next_attempt_at timestamptz,
  primary key (workspace_id, attempt_id)
);
create index webhook_attempts_by_endpoint on webhook_attempts (workspace_id, endpoint_id, attempt_id)
  where endpoint_id <> '';
create index webhook_attempts_by_event on webhook_attempts (workspace_id, event_id, attempt_id)
  where event_id <> '';
