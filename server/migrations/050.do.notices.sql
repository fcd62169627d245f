-- compatible-with: 50
-- Channels, and the notices that they and people get. A notice waits as a row of `webhook_deliveries` whose `endpoint_id` is
-- its recipient and whose `event_id` is its own id, in the recipient's row of `webhook_queues`. Builds before this one
-- would take the queue of a channel for that of a deleted endpoint and empty it, so they are stopped first.
create table channels (
  workspace_id text collate "C" not null,
  channel_id text collate "C" not null,
  name text not null,
  type text collate "C" not null,
  status text collate "C" not null,
  disabled_reason text collate "C",
  -- The host of the URL, or the addresses.
  target text not null,
  -- URL, addresses and secrets as JSON, encrypted by a key that is not in the database.
  sealed_settings text not null,
  settings_hash text collate "C" not null,
  filter json,
  quiet_hours json,
  show_claims boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, channel_id)
);

-- The results of each channel's attempts, written by the workers alone.
create table channel_health (
  workspace_id text collate "C" not null,
  channel_id text collate "C" not null,
  -- Since the last success.
  failures integer not null,
  last_success_at timestamptz,
  failing_since timestamptz,
  last_error text,
  primary key (workspace_id, channel_id)
) with (fillfactor = 50);

create table notices (
  workspace_id text collate "C" not null,
  notice_id text collate "C" not null,
  kind text collate "C" not null,
  decision_id text collate "C",
  -- A channel, or the user who is notified.
  recipient_id text collate "C" not null,
  recipient text not null,
  -- SCHEDULED and RETRYING become OBSOLETE for readers as soon as the decision is made, without a write of the lane.
  status text collate "C" not null,
  due_at timestamptz not null,
  attempts integer not null,
  error text,
  -- JSON.
  data text,
  primary key (workspace_id, notice_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index notices_of_decisions on notices (workspace_id, decision_id, notice_id) where decision_id is not null;
create index notices_of_recipients on notices (workspace_id, recipient_id, notice_id) where recipient_id <> '';

-- The requests of an agent that waited for a review in a minute: from the sixth on, recipients get summaries.
create table notice_bursts (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  -- Minutes since 1970, by the time of the chain.
  minute bigint not null,
  requested integer not null,
  primary key (workspace_id, agent_id)
) with (fillfactor = 50);

-- Read with the lock of the head, as has_webhooks is.
alter table ledger_heads add column has_channels boolean not null default false;

-- The receiver asked for a pause, or its deliveries could not be made: nothing is sent before, whatever is put into the queue.
alter table webhook_queues add column not_before timestamptz;
