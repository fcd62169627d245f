-- compatible-with: 91
-- What is known of card authorizations of agents in SHADOW: which decision watches one, and the states that its rail reported.
-- Each row is sealed by an event of its own, and none is changed. Builds before this one would verify the chain without them, so
-- they are stopped first.
create table rail_authorizations (
  workspace_id text collate "C" not null,
  rail_authorization_id text collate "C" not null,
  -- The rail that reported it.
  rail_id text collate "C" not null,
  kind text collate "C" not null,
  authorization_id text collate "C" not null,
  -- DECISION, or a state.
  fact text collate "C" not null,
  -- Of a DECISION.
  decision_id text collate "C",
  -- Of a DECISION: whether it was made of the authorization; otherwise the agent had asked first.
  is_observed boolean,
  recorded_at timestamptz not null,
  primary key (workspace_id, rail_authorization_id)
);
create unique index rail_authorizations_by_fact on rail_authorizations (workspace_id, kind, authorization_id, fact);
-- A decision is for one authorization.
create unique index rail_authorizations_by_decision on rail_authorizations (workspace_id, decision_id)
  where decision_id is not null;
create index lines_by_authorization on lines (workspace_id, feed, authorization_id) where authorization_id is not null;
