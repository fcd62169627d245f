-- compatible-with: 30
-- When an operator last confirmed the database's clock, by that clock: a node that has just seen it jump believes it then.
alter table installation add column clock_confirmed_at timestamptz;
