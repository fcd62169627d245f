-- compatible-with: 70
-- Keys that are bound to an allowance. Builds before this one would let them act for the whole agent, so they are stopped first.
alter table api_keys
  -- The allowance and all above it, the nearest first; empty for every other key.
  add column allowance_path text[] collate "C" not null default '{}',
  -- The agent keys by which it was made, which it does not outlive; the nearest first.
  add column maker_key_ids text[] collate "C" not null default '{}';
create index api_keys_bound_to on api_keys (workspace_id, (allowance_path[1]), key_id) where allowance_path <> '{}';
