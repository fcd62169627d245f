-- compatible-with: 90
-- Payment rails that send their card events here. Builds before this one would verify the chain without them, so they are
-- stopped first.
create table rails (
  workspace_id text collate "C" not null,
  rail_id text collate "C" not null,
  kind text collate "C" not null,
  name text not null,
  -- The vendor's signing secrets as JSON, encrypted by a key that is not in the database, and their hash. Null: none yet.
  sealed_secrets text,
  secrets_hash text collate "C",
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, rail_id)
);
-- A vendor names the rail alone.
create index rails_by_id on rails (rail_id);

-- What became of each rail's events. It is counted beside the lane, and nothing seals it.
create table rail_health (
  workspace_id text collate "C" not null,
  rail_id text collate "C" not null,
  accepted bigint not null,
  refused bigint not null,
  ignored bigint not null,
  last_event_at timestamptz,
  last_problem text,
  last_problem_at timestamptz,
  primary key (workspace_id, rail_id)
) with (fillfactor = 50);
