-- compatible-with: 23
-- What spends come to over time, by limit and by what it counts apart: each decision adds to the slots that it counts in, and
-- what becomes of it later takes back from them. A slot is a calendar window, or a step of a rolling one; from `until` on it
-- counts no more, and a day later it is swept. Builds before this one would decide without these limits, so they are stopped
-- first.
create table counters (
  workspace_id text collate "C" not null,
  counter_id text collate "C" not null,
  subject text collate "C" not null,
  slot timestamptz not null,
  until timestamptz not null,
  count bigint not null,
  held_minor bigint not null,
  committed_minor bigint not null,
  decision_id text collate "C",
  primary key (workspace_id, counter_id, subject, slot)
) with (fillfactor = 50);
-- For the sweep alone. The condition holds for every row; it keeps the index from queries that do not repeat it.
create index counters_by_until on counters (until) where counter_id <> '';

-- The slots that a decision counts in, and what it counts for in limits of pace, which no refund lowers.
alter table decision_states add column counted_in text, add column paced_minor bigint;
