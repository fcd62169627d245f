-- compatible-with: 92
-- Whether what rails say was paid was asked for. People's resolutions and the lines that were reported as unmatched are sealed by
-- events of the chain; everything else is derived by a follower. Builds before this one would verify the chain without them, so
-- they are stopped first.
alter table workspaces add column coverage text;

create table line_resolutions (
  workspace_id text collate "C" not null,
  resolution_id text collate "C" not null,
  line_id text collate "C" not null,
  action text collate "C" not null,
  decision_id text collate "C",
  comment text,
  principal_id text,
  key_id text collate "C",
  created_at timestamptz not null,
  primary key (workspace_id, resolution_id)
);
create index line_resolutions_by_line on line_resolutions (workspace_id, line_id, resolution_id) where line_id <> '';
create index line_resolutions_by_decision on line_resolutions (workspace_id, decision_id) where decision_id is not null;

-- The lines that `spend.unmatched` was sent for. Once for each.
create table unmatched_lines (
  workspace_id text collate "C" not null,
  line_id text collate "C" not null,
  line_state text collate "C" not null,
  -- JSON.
  nearest text not null,
  created_at timestamptz not null,
  primary key (workspace_id, line_id)
);

-- What lines are compared with, of the decisions near them. Derived.
create table asked_spends (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  agent_id text collate "C" not null,
  created_at timestamptz not null,
  merchant text not null,
  payee_id text,
  currency text collate "C" not null,
  -- Null: no payment is expected.
  expected_minor bigint,
  is_refused boolean not null,
  -- JSON.
  rail_references text not null,
  primary key (workspace_id, decision_id)
);
create index asked_spends_by_agent on asked_spends (workspace_id, agent_id, created_at) where agent_id <> '';

-- Whether each spend among the lines was asked for. Derived.
create table line_matches (
  workspace_id text collate "C" not null,
  line_id text collate "C" not null,
  import_id text collate "C",
  feed text collate "C" not null,
  agent_id text collate "C",
  -- What parts of one authorization have in common, and its first time.
  spend_key text collate "C" not null,
  starts_at timestamptz not null,
  -- The line's own time, and its end: where the day alone is known, that of the day.
  occurred_at timestamptz not null,
  ends_at timestamptz not null,
  currency text collate "C" not null,
  amount_minor bigint not null,
  state text collate "C" not null,
  rule text collate "C",
  decision_id text collate "C",
  -- When it took its decision.
  step text collate "C",
  resolution_id text collate "C",
  primary key (workspace_id, line_id)
) with (fillfactor = 80);
create index line_matches_by_agent on line_matches (workspace_id, agent_id, starts_at, line_id) where agent_id is not null;
create index line_matches_by_decision on line_matches (workspace_id, decision_id) where decision_id is not null;
create index line_matches_by_import on line_matches (workspace_id, import_id) where import_id is not null;
create index line_matches_by_time on line_matches (workspace_id, occurred_at) where line_id <> '';
create index line_matches_by_state on line_matches (workspace_id, state, line_id) where state in ('NEVER_ASKED', 'REFUSED', 'LATE', 'EXCLUDED', 'UNASSIGNED');

-- How far the follower has read each chain.
create table coverage_watermarks (
  workspace_id text collate "C" not null primary key,
  seq bigint not null
) with (fillfactor = 20);
