-- compatible-with: 7
-- Events that a follower of the chain (domain/followers.ts) could not add up and left out, each with the reason: so
-- that one event stops nobody, and everybody can see that it was left out.
create table skipped_events (
  workspace_id text collate "C" not null,
  follower text collate "C" not null,
  seq bigint not null,
  reason text not null,
  skipped_at timestamptz not null,
  primary key (workspace_id, follower, seq)
);
