-- What people and payment systems said of an agent's spends under one purpose, by the merchant, the payee or the words
-- of the description: what the assessor of purpose is told of the past. A worker follows the ledger and adds it up off
-- the decision's path. `kind`: merchant, payee or word.
create table dealings (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  purpose_hash text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  allowed integer not null,
  denied integer not null,
  aligned integer not null,
  misaligned integer not null,
  paid integer not null,
  -- Lowest and highest amount by currency: {"EUR": {"low": 100, "high": 900}}.
  usual_minor json not null,
  payee_ids text[] not null,
  changed_at timestamptz not null,
  primary key (workspace_id, agent_id, purpose_hash, kind, name)
) with (fillfactor = 80);

-- What of a decision has been added up, so that what is said anew takes the place of what was said before.
create table dealings_counted (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  allowed boolean not null,
  denied boolean not null,
  aligned boolean not null,
  misaligned boolean not null,
  paid boolean not null,
  primary key (workspace_id, decision_id)
) with (fillfactor = 80);

-- The last event of each chain that has been looked at.
create table dealings_watermarks (
  workspace_id text collate "C" not null primary key,
  seq bigint not null
) with (fillfactor = 20);
