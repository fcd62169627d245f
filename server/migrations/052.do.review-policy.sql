-- compatible-with: 52
-- The review policy of a workspace, each version for good. Builds before this one would decide without it, and would settle a
-- request with one approval where its tier needs several, so they are stopped first.
create table review_policies (
  workspace_id text collate "C" not null,
  version integer not null,
  hash text collate "C" not null,
  -- RFC 8785 text.
  policy text not null,
  created_at timestamptz not null,
  key_id text collate "C",
  principal_id text,
  note text,
  -- The place in the chain of the audit record that seals it.
  seq bigint not null,
  primary key (workspace_id, version)
);

-- The approvals so far of a decision whose tier needs more than one.
alter table decision_states add column approvals integer not null default 0;

-- The absent approver whose place the reviewer used; the person or topmost key behind the review, where a tier counts those.
alter table reviews add column on_behalf_of text;
alter table reviews add column voice text;

-- Until when a member is away, and the principal of the member who may use their place meanwhile.
alter table members add column away_until timestamptz;
alter table members add column away_delegate text;
