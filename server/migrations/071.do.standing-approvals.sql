-- compatible-with: 71
-- Requested allowances and standing approvals. Builds before this one would decide without them and make none, so they are
-- stopped first.
-- The event of the newest change of an agent's standing approvals; 0: it never had one.
alter table agents add column allowances_version bigint not null default 0;
create index allowances_of_persons on allowances (workspace_id, agent_id, allowance_id)
  where automatic or status = 'REQUESTED';
