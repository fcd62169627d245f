-- compatible-with: 59
-- Caps on what may be spent for one task, sub-agent, user or customer. Their usage is in `counters`, under their ids.
-- Builds before this one would refuse spends that name one, and decide others without what they count in, so they are stopped
-- first.
create table allowances (
  workspace_id text collate "C" not null,
  allowance_id text collate "C" not null,
  agent_id text collate "C",
  budget_id text collate "C",
  parent_id text collate "C",
  -- Its own id and those of all above it, the nearest first.
  path text[] collate "C" not null,
  currency text collate "C" not null,
  amount_minor bigint not null,
  period text collate "C" not null,
  time_zone text collate "C" not null,
  per_spend_limit_minor bigint,
  max_count bigint,
  expires_at timestamptz not null,
  status text collate "C" not null,
  -- JSON of its bounds and words.
  terms text not null,
  vouches boolean not null,
  automatic boolean not null,
  name text,
  external_id text collate "C",
  -- SHA-256 of the body that made it, hex, where that has an external id.
  body_hash text collate "C",
  source text collate "C" not null,
  created_at timestamptz not null,
  created_by_key_id text collate "C",
  created_by_principal_id text collate "C",
  made_by_agent boolean not null,
  issuer_id text collate "C",
  decide_by timestamptz,
  -- JSON of what was asked for, of the decision on it, and of the revocation.
  request text,
  decided text,
  revoked text,
  -- Of the period that began then, how much of the amount was alerted to be used, in percent.
  told_period timestamptz,
  told_percent integer,
  primary key (workspace_id, allowance_id)
);
create index allowances_of_agent on allowances (workspace_id, agent_id, allowance_id) where agent_id <> '';
create index allowances_below on allowances (workspace_id, parent_id, allowance_id) where parent_id <> '';
create index allowances_in_budget on allowances (workspace_id, budget_id, allowance_id) where budget_id <> '';
-- Each creator's own ids.
create unique index allowance_external_ids on allowances
  (workspace_id, external_id, (coalesce(created_by_key_id, created_by_principal_id))) where external_id <> '';
-- Open ones that agents made, by the uppermost above them.
create index allowances_of_agents_below on allowances (workspace_id, (path[cardinality(path)]))
  where made_by_agent and status = 'OPEN';

-- Follows from the terms of allowances.
create table allowance_labels (
  workspace_id text collate "C" not null,
  key text collate "C" not null,
  value text collate "C" not null,
  allowance_id text collate "C" not null,
  primary key (workspace_id, key, value, allowance_id)
);

-- Which decisions were made under an allowance, or one below it. Follows from the decisions.
create table allowance_decisions (
  workspace_id text collate "C" not null,
  allowance_id text collate "C" not null,
  decision_id text collate "C" not null,
  primary key (workspace_id, allowance_id, decision_id)
);
create index allowances_of_decision on allowance_decisions (workspace_id, decision_id);
