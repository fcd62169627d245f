-- compatible-with: 37
-- The limits over time that joined with a version of an authority, and the earlier decisions that count in them since. Builds
-- before this one would leave those decisions out when they change, so they are stopped first.
alter table authorities add column joined text;
create index authorities_joined on authorities (workspace_id, agent_id, created_at) where joined is not null;

-- What a decision counts for in limits of pace is kept of every decision, since a limit may join that counts it.
insert into states_to_refold
  select workspace_id, decision_id from decision_states
  where paced_minor is null and (outcome_state <> 'NONE' or capability_consumed_at is not null)
  on conflict do nothing;
update decision_states set paced_minor = amount_minor where paced_minor is null;
