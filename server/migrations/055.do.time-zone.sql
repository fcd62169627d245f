-- compatible-with: 55
-- The time zone in which a workspace's days are shown. Builds before this one would seal workspaces without it, so they are
-- stopped first.
alter table workspaces add column time_zone text not null default 'UTC';
