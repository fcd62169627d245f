-- compatible-with: 132
-- Texts share entries of the index of trigrams: up to 25 that were written one after another. An entry for each text cost as much as
-- the decision's other rows together.
create table search_groups (
  workspace_id text collate "C" not null,
  -- The record of the group's first text.
  record_id text collate "C" not null,
  -- Of each of its texts, in one order: the decision, the kind, and the text itself, so that a search looks only hits up.
  decision_ids text[] collate "C" not null,
  kinds text[] collate "C" not null,
  folded text[] not null,
  -- The numbers of the trigrams of all its texts.
  grams integer[] not null,
  -- Not by workspace: the planner could read all groups of a workspace instead of asking the index of trigrams.
  primary key (record_id, workspace_id)
);
create index search_groups_by_grams on search_groups using gin (grams);

-- The follower writes all texts again, with their groups.
drop index search_texts_by_grams;
truncate search_texts, search_watermarks;
delete from skipped_events where follower = 'search';
alter table search_texts drop column grams;
