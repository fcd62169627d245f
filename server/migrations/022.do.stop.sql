-- compatible-with: 22
-- A stop of all agents of a workspace, as RFC 8785 text; null while none is stopped. It lies on the head of the chain, since
-- every batch reads that under its lock. Builds before this one would go on deciding, so they are stopped first.
alter table ledger_heads add column stop text;
