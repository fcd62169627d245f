-- compatible-with: 61
-- Read-only links of one decision, for somebody outside the workspace. Every link is sealed by its audit records. Builds
-- before this one would take those records for unknown rows, so they are stopped first.
create table decision_links (
  workspace_id text collate "C" not null,
  link_id text collate "C" not null,
  decision_id text collate "C" not null,
  -- SHA-256 of the random token in the link.
  token_digest bytea not null,
  key_id text collate "C",
  principal_id text,
  -- The person at the root of its making; the link ends with their membership.
  made_by_person text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (workspace_id, link_id)
);
create index decision_links_of_decisions on decision_links (workspace_id, decision_id, link_id);
