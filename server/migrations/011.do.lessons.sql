-- compatible-with: 11
-- What is learnt is learnt anew: an agent's own word, what nobody had allowed and what was only asked for taught
-- something before. From here on each decision's part in the sums is kept as it stands, so that it can be taken back
-- and so that verification can hold it against the history, and the sums against it.
truncate dealings, dealings_counted, dealings_watermarks;
alter table dealings_counted
  add column agent_id text collate "C" not null,
  add column purpose_hash text collate "C" not null,
  add column merchant text collate "C" not null,
  add column payee_id text collate "C",
  -- Of the description, where people labelled the spend.
  add column words text[] not null,
  add column currency text collate "C" not null,
  -- The amount that a person or the payment rail vouches for; null: nobody does.
  add column vouched_minor bigint;
-- What is vouched for at a merchant, for when something of it is taken back. The condition keeps it from the look-ups
-- by decision, which do not repeat it.
create index dealings_counted_by_merchant on dealings_counted (workspace_id, agent_id, purpose_hash, merchant)
  where vouched_minor is not null;
delete from skipped_events where follower = 'learning';
