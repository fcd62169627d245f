-- What people and payment systems say of a decision after it was made. Every record is append-only, sealed by its
-- event in the chain, and named by an id that sorts by the moment of its making, so that one walk along the chain
-- and along each primary key meets every row.

create table reviews (
  workspace_id text collate "C" not null,
  review_id text collate "C" not null,
  decision_id text collate "C" not null,
  action text not null,
  reason_code text not null,
  comment text,
  supersedes text collate "C",
  principal_id text,
  key_id text collate "C" not null,
  created_at timestamptz not null,
  -- When the capability that it issued runs out; null where it issued none.
  capability_expires_at timestamptz,
  primary key (workspace_id, review_id)
);
-- As with decisions_by_agent: every row is in these, and the condition keeps them from other look-ups.
create index reviews_by_decision on reviews (workspace_id, decision_id, review_id) where decision_id <> '';

create table labels (
  workspace_id text collate "C" not null,
  label_id text collate "C" not null,
  decision_id text collate "C" not null,
  label text not null,
  comment text,
  supersedes text collate "C",
  principal_id text,
  key_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (workspace_id, label_id)
);
create index labels_by_decision on labels (workspace_id, decision_id, label_id) where decision_id <> '';

create table outcomes (
  workspace_id text collate "C" not null,
  outcome_id text collate "C" not null,
  decision_id text collate "C" not null,
  type text not null,
  amount_minor bigint,
  currency text not null,
  external_reference text,
  occurred_at timestamptz not null,
  source text not null,
  key_id text collate "C" not null,
  principal_id text,
  recorded_at timestamptz not null,
  flags text[] not null,
  primary key (workspace_id, outcome_id)
);
create index outcomes_by_decision on outcomes (workspace_id, decision_id, outcome_id) where decision_id <> '';

-- How a capability was used; one row a capability. Nothing here, nor anywhere in the database, is a usable token.
create table consumptions (
  workspace_id text collate "C" not null,
  capability_id text collate "C" not null,
  decision_id text collate "C" not null,
  agent_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  request_hash bytea not null,
  amount_minor bigint not null,
  currency text not null,
  payee_id text,
  merchant text,
  external_reference text,
  key_id text collate "C" not null,
  principal_id text,
  consumed_at timestamptz not null,
  primary key (workspace_id, capability_id)
);

-- Which capability an idempotency key consumed. A table of its own with one index, as idempotency_keys.
create table consumption_keys (
  workspace_id text collate "C" not null,
  idempotency_key text collate "C" not null,
  capability_id text collate "C" not null,
  primary key (workspace_id, idempotency_key)
);

-- Holds that ran out by themselves, once they were let go.
create table run_out_holds (
  workspace_id text collate "C" not null,
  reservation_id text collate "C" not null,
  decision_id text collate "C" not null,
  agent_id text collate "C" not null,
  amount_minor bigint not null,
  currency text not null,
  period text not null,
  expires_at timestamptz not null,
  let_go_at timestamptz not null,
  primary key (workspace_id, reservation_id)
);

-- What the reservation amounts to now: held, committed, or what was let go.
alter table decision_states rename column held_minor to amount_minor;
alter table decision_states
  drop column labeled,
  add column review_id text collate "C",
  add column label_id text collate "C",
  add column capability_status text,
  add column capability_issued_at timestamptz,
  add column capability_expires_at timestamptz,
  add column capability_consumed_at timestamptz;
