-- compatible-with: 25
-- The merchants and payees that each agent is known to have paid: a person allowed a spend with them, or one was executed
-- on a decision in force as ALLOW. The key is a hash of the name, or of the payee where the spend named one. It follows from
-- reviews and outcomes, so verification makes it again. Builds before this one would record reviews and outcomes without it,
-- so they are stopped first.
create table known_merchants (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  key text collate "C" not null,
  since timestamptz not null,
  -- The first that made it known; of several at one moment the one with the lowest id.
  decision_id text collate "C" not null,
  primary key (workspace_id, agent_id, key)
);

-- Workspaces whose earlier reviews and outcomes a worker still goes through, and the decision that it has come to. Until it is
-- done, merchants look newer than they are.
create table known_merchants_to_fill (
  workspace_id text collate "C" primary key,
  after_decision_id text collate "C" not null
);
insert into known_merchants_to_fill select workspace_id, '' from ledger_heads;
