-- compatible-with: 62
-- Sample workspaces: a month of invented decisions to look at, which can be removed as a whole. Builds before this one would
-- seal workspaces without the mark, so they are stopped first.
alter table workspaces add column sample boolean not null default false;

-- The clock of a sample whose history is being written, since it begins four weeks ago. A row is there only meanwhile.
create table sample_clocks (
  workspace_id text collate "C" not null primary key,
  at timestamptz not null,
  begun_at timestamptz not null
);

-- Comes before PostgreSQL's own function only in sessions that name "public" before "pg_catalog" in their search path, which
-- are those that write a sample. Without the sample's row there is no time, and nothing can be written.
create function public.clock_timestamp() returns timestamptz language plpgsql volatile as $$
declare
  moment timestamptz;
begin
  select at into strict moment from public.sample_clocks
    where workspace_id = pg_catalog.current_setting('purser.sample');
  return moment;
end $$;
