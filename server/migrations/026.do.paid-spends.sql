-- compatible-with: 25
-- What an agent has paid lately is asked for with its spends, twice a second: this leads to it, and holds nothing else.
create index decision_states_executed on decision_states (workspace_id, agent_id, decision_id)
  where outcome_state in ('EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED');
