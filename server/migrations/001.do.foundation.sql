-- Every primary key and unique index begins with workspace_id, so that the schema can be distributed by it.
-- The one exception is api_key_digests: it answers the question which workspace a key belongs to.
-- Ids are compared as bytes (collate "C"): they sort by creation time.

create table workspaces (
  workspace_id text collate "C" not null primary key,
  name text not null,
  mode text not null,
  plan text not null,
  trial_plan text,
  trial_started_at timestamptz,
  trial_ends_at timestamptz,
  created_at timestamptz not null
);

-- The head of each workspace's chain: the row that the lane locks. Updated once a batch, hence the room in its pages.
create table ledger_heads (
  workspace_id text collate "C" not null primary key,
  seq bigint not null,
  hash bytea not null,
  time_ms bigint not null
) with (fillfactor = 20);

create table ledger_events (
  workspace_id text collate "C" not null,
  seq bigint not null,
  id text collate "C" not null,
  type text not null,
  subject_type text not null,
  subject_id text collate "C" not null,
  occurred_at timestamptz not null,
  data_hash bytea not null,
  prev_hash bytea not null,
  hash bytea not null,
  primary key (workspace_id, seq)
);

create table audit_records (
  workspace_id text collate "C" not null,
  seq bigint not null,
  audit_id text collate "C" not null,
  action text not null,
  actor json not null,
  target_type text not null,
  target_id text collate "C" not null,
  changes json not null,
  -- The whole target after the change, as RFC 8785 text: what the live row is checked against.
  state text not null,
  request_id text,
  client_address text,
  created_at timestamptz not null,
  primary key (workspace_id, seq)
);

create table agents (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  mode text not null,
  status text not null,
  authority_version integer,
  authority_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, agent_id),
  unique (workspace_id, slug)
);

create table authorities (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  version integer not null,
  hash text not null,
  authority text not null,
  created_at timestamptz not null,
  key_id text collate "C",
  principal_id text,
  primary key (workspace_id, agent_id, version)
);

create table api_keys (
  workspace_id text collate "C" not null,
  key_id text collate "C" not null,
  name text not null,
  kind text not null,
  scopes text[] not null,
  agent_id text collate "C",
  principal_id text,
  digest bytea not null,
  hint text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (workspace_id, key_id)
);

create table api_key_digests (
  digest bytea not null primary key,
  workspace_id text collate "C" not null,
  key_id text collate "C" not null
);

create table api_key_uses (
  workspace_id text collate "C" not null,
  key_id text collate "C" not null,
  last_used_at timestamptz not null,
  primary key (workspace_id, key_id)
) with (fillfactor = 50);

-- A decision exactly as it was made. What changes about it later is in decision_states.
create table decisions (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  agent_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  decision text not null,
  mode text not null,
  reason_codes text[] not null,
  merchant text not null,
  requested_amount_minor bigint not null,
  currency text not null,
  created_at timestamptz not null,
  document text not null,
  primary key (workspace_id, decision_id)
);
-- Every row is in it. The condition keeps it from queries that do not repeat it: with the statistics of a new
-- table the planner would take this index for a look-up by id as gladly as the primary key, and read all.
create index decisions_by_agent on decisions (workspace_id, agent_id, decision_id) where agent_id <> '';
-- A decision is 2 to 6 KB of text. Kept in its own page, uncompressed, it is written and read fastest.
alter table decisions set (toast_tuple_target = 8160);

-- What an idempotency key was used for. A table of its own with one index, so that there is no wrong index to
-- choose for the look-up that every decision makes.
create table idempotency_keys (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  request_hash bytea not null,
  decision_id text collate "C" not null,
  primary key (workspace_id, agent_id, idempotency_key)
);

-- A row only where something changed since the decision was made, or will run out: what is not here stands as
-- the decision's document says.
create table decision_states (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  agent_id text collate "C" not null,
  reservation_id text collate "C",
  reservation_status text not null,
  period text not null,
  currency text not null,
  held_minor bigint not null,
  expires_at timestamptz,
  review_state text,
  labeled boolean not null,
  outcome_state text not null,
  verified boolean not null,
  primary key (workspace_id, decision_id)
) with (fillfactor = 80);

-- The holds that run out by themselves and have not done so yet. In SHADOW there are none.
create table expiring_holds (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  expires_at timestamptz not null,
  decision_id text collate "C" not null,
  period text collate "C" not null,
  primary key (workspace_id, agent_id, expires_at, decision_id)
);

create table budgets (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  period text collate "C" not null,
  currency text collate "C" not null,
  held_minor bigint not null,
  committed_minor bigint not null,
  primary key (workspace_id, agent_id, period, currency)
) with (fillfactor = 20);
