-- compatible-with: 30
-- What ENFORCE decided is counted by merchant too, so everything is added up anew: builds before this one would leave it out
-- meanwhile, so they are stopped first.
truncate report_counters, report_counted, report_watermarks;
delete from skipped_events where follower = 'report';

-- When the whole history of a workspace was verified last, and what was found. It is for people to see: it proves nothing,
-- and is in no chain.
create table last_verifications (
  workspace_id text collate "C" primary key,
  checked_at timestamptz not null,
  valid boolean not null,
  events_checked bigint not null,
  first_break_seq bigint
);
