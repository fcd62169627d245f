-- compatible-with: 48
-- The newest alert of each percentage of an agent's limits, and until when it is not repeated. Audit records seal the rows.
-- Builds before this one would decide without alerts, and drop the percentages of shared budgets, so they are stopped first.
create table limit_alerts (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  -- The id of a counter, or `monthly_budget_` and the currency.
  limit_id text collate "C" not null,
  -- Empty: all spends count together.
  subject text collate "C" not null,
  percent integer not null,
  until timestamptz not null,
  decision_id text collate "C" not null,
  primary key (workspace_id, agent_id, limit_id, subject, percent)
);

-- JSON; null: the default percentages.
alter table shared_budgets add column alert_percents text;
