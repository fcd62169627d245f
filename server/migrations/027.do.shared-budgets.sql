-- compatible-with: 27
-- What several agents may spend together in a period. What is spent of it stands in `counters`, under the budget's id. Slug,
-- currency, period, zone and parent are fixed for good. Builds before this one would decide without these budgets, so they
-- are stopped first.
create table shared_budgets (
  workspace_id text collate "C" not null,
  budget_id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  currency text collate "C" not null,
  period text collate "C" not null,
  time_zone text collate "C" not null,
  limit_minor bigint not null,
  parent_id text collate "C",
  status text collate "C" not null,
  -- Of the period that began then, how much of the limit was told to be used, in percent.
  told_period timestamptz,
  told_percent integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, budget_id),
  unique (workspace_id, slug)
);
