-- compatible-with: 64
-- The accounts in Slack whose clicks are reviews of members. Builds before this one would leave out how a review was recorded
-- when they verify it, so they are stopped first.
create table slack_links (
  workspace_id text collate "C" not null,
  user_id text collate "C" not null,
  -- Team and user; null: the link has ended.
  slack_account text collate "C",
  credential_epoch integer not null,
  changed_at timestamptz not null,
  primary key (workspace_id, user_id)
);
create unique index slack_links_by_account on slack_links (workspace_id, slack_account)
  where slack_account is not null;

-- The codes by which people link an account: a keyed digest of each, good once and for ten minutes.
create table slack_codes (
  workspace_id text collate "C" not null,
  digest bytea not null,
  slack_account text collate "C" not null,
  -- As Slack shows the account.
  name text,
  expires_at timestamptz not null,
  primary key (workspace_id, digest)
);

-- Which worker holds the connection of a channel to Slack. Workers alone write it.
create table slack_connections (
  workspace_id text collate "C" not null,
  channel_id text collate "C" not null,
  worker text not null,
  leased_until timestamptz not null,
  primary key (workspace_id, channel_id)
) with (fillfactor = 50);

alter table reviews add column via text;
